package cloud

import "time"

// MarkTTL is how long a refusal counts, from the first one: a further refusal meanwhile doesn't extend it, so that a
// kind of instance is asked for again at least that often.
const MarkTTL = 10 * time.Minute

// A Subnet is a place for instances. One without public addresses can only take nodes that need none.
type Subnet struct {
	ID     string
	Zone   string
	Public bool
}

// A mark is something that the cloud refused: a type on a market, everywhere or in a zone, or a subnet.
type mark struct {
	instanceType string
	spot         bool
	zone         string
	subnet       string
}

// Marks remembers refusals. Time comes in as an argument; the same calls in the same order give the same answers. The
// zero value knows of no subnets: it then takes every zone to be fine that isn't marked. Not safe for concurrent use;
// Keeper is.
type Marks struct {
	subnets []Subnet
	since   map[mark]time.Time
}

// NewMarks returns a memory without refusals, of a cloud with these subnets.
func NewMarks(subnets ...Subnet) *Marks {
	return &Marks{subnets: append([]Subnet(nil), subnets...)}
}

// Instance marks a type on a market as refused everywhere.
func (m *Marks) Instance(instanceType string, spot bool, now time.Time) {
	m.add(mark{instanceType: instanceType, spot: spot}, now)
}

// Zone marks a type on a market as refused in a zone.
func (m *Marks) Zone(instanceType string, spot bool, zone string, now time.Time) {
	m.add(mark{instanceType: instanceType, spot: spot, zone: zone}, now)
}

// Subnet marks a subnet as full, for all types on both markets.
func (m *Marks) Subnet(id string, now time.Time) { m.add(mark{subnet: id}, now) }

// Unavailable says whether there is no sense in asking for a type on a market: it is refused everywhere, or in this
// zone, or no subnet is left for it. A node with a public address needs a public subnet; one without fits any. The empty
// zone is any zone, unavailable only when no zone is left.
func (m *Marks) Unavailable(instanceType string, spot, privateIPOnly bool, zone string, now time.Time) bool {
	if m.holds(mark{instanceType: instanceType, spot: spot}, now) {
		return true
	}
	if len(m.subnets) == 0 {
		return zone != "" && m.holds(mark{instanceType: instanceType, spot: spot, zone: zone}, now)
	}
	for _, s := range m.subnets {
		switch {
		case zone != "" && s.Zone != zone:
		case !privateIPOnly && !s.Public:
		case m.holds(mark{subnet: s.ID}, now):
		case m.holds(mark{instanceType: instanceType, spot: spot, zone: s.Zone}, now):
		default:
			return false
		}
	}
	return true
}

// add writes a mark unless a valid one is there, and drops the expired ones.
func (m *Marks) add(k mark, now time.Time) {
	if m.since == nil {
		m.since = map[mark]time.Time{}
	}
	for old := range m.since {
		if !m.holds(old, now) {
			delete(m.since, old)
		}
	}
	if _, ok := m.since[k]; !ok {
		m.since[k] = now
	}
}

// holds says whether a mark was written less than MarkTTL ago.
func (m *Marks) holds(k mark, now time.Time) bool {
	since, ok := m.since[k]
	return ok && now.Sub(since) < MarkTTL
}
