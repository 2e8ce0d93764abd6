package roll

import (
	"cmp"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// The provisioner simulates the scheduler for nodes that aren't there yet (pkg/controllers/provisioning/scheduling): it
// counts room, selectors, taints, the zones of volumes, and how many pods of a kind may share a node or a zone.

// room is what is left of a claim's machine.
type room struct {
	claim       *claim
	zone        string // that the machine was asked for in, "" for any
	free        component.Room
	allocatable kube.Pairs
	pods        []*kube.Pod // that it is for
}

// in is the zone of the machine, as far as that is known.
func (r *room) in() string {
	if r.zone == "" && r.claim != nil && r.claim.instance != nil {
		return r.claim.instance.Zone
	}
	return r.zone
}

func (r *room) take(p *kube.Pod) {
	r.free = r.free.Minus(component.NeedOf(p))
	r.pods = append(r.pods, p)
}

// holds reports whether a pod fits in, of which no more than perHost may share a node, 0 for no limit.
func (r *room) holds(judge *scheduler.Scheduler, p *kube.Pod, perHost int) bool {
	if !r.free.Holds(component.NeedOf(p)) {
		return false
	}
	d := p.Template.Demands
	if d != nil {
		for _, a := range d.More {
			left := scheduler.Amount(r.allocatable, a.Resource)
			for _, o := range r.pods {
				left -= asks(o, a.Resource)
			}
			if left < a.Value {
				return false
			}
		}
	}
	if perHost == 0 && (d == nil || len(d.Ports) == 0) {
		return true
	}
	alike := 0
	for _, o := range r.pods {
		if scheduler.PortsClash(p, o) {
			return false
		}
		if perHost > 0 && judge.Counts(p, o, component.LabelHostname) {
			alike++
		}
	}
	return perHost == 0 || alike < perHost
}

// asks is how much of a resource beside CPU and memory a pod asks for.
func asks(p *kube.Pod, resource string) int64 {
	if p.Template.Demands == nil {
		return 0
	}
	for _, a := range p.Template.Demands.More {
		if a.Resource == resource {
			return a.Value
		}
	}
	return 0
}

// placing is one look at the pods that wait.
type placing struct {
	k      *Karpenter
	wishes map[wishKey]*wish
	alive  map[poolZone]int // machines, with those that are asked for in a zone
}

// poolZone is a zone of a NodePool.
type poolZone struct {
	group *cloud.Group
	zone  string
}

// unavailable is for how long a zone counts as one without capacity that had none (karpenter-provider-aws,
// pkg/cache/cache.go, UnavailableOfferingsTTL).
const unavailable = 3 * time.Minute

// wishKey is what decides where a pod may have a new node.
type wishKey struct {
	template *kube.Template
	volumes  string // the zone of its volumes
	one      bool   // they are in one
}

// wish is where pods may have a new node.
type wish struct {
	scheduler.Company
	pod    *kube.Pod                 // one of them
	inZone map[string]int            // pods that count for it, where zones matter
	zones  map[*cloud.Group][]string // the best first; one that is "" says that any does
	next   int                       // of the rooms, the first that wasn't found too small
}

func (l *placing) wishOf(p *kube.Pod) *wish {
	k := l.k
	volumes, ok := k.volumeZone(p)
	key := wishKey{p.Template, volumes, ok}
	w := l.wishes[key]
	if w == nil {
		w = &wish{Company: k.judge.CompanyOf(p, &k.agents), pod: p, zones: map[*cloud.Group][]string{}}
		if w.Zoned() {
			w.inZone = k.inZones(p)
		}
		l.wishes[key] = w
	} else if !w.Zoned() {
		return w
	}
	w.next = 0
	for _, g := range k.cfg.Groups {
		w.zones[g] = nil
		if ok && !w.Elsewhere {
			w.zones[g] = l.zonesFor(g, p, w, volumes)
		}
	}
	return w
}

// inZones counts the pods that a pod's limits by zone count.
func (k *Karpenter) inZones(p *kube.Pod) map[string]int {
	in := map[string]int{}
	for _, o := range k.env.API.Pods() {
		// Those that leave don't count (IgnoredForTopology of pkg/controllers/provisioning/scheduling/topology.go).
		if o.NodeName == "" || o.Terminating() || o.Terminal() || !k.judge.Counts(p, o, component.LabelZone) {
			continue
		}
		if n := k.env.API.Node(o.NodeName); n != nil {
			in[n.Labels.Get(component.LabelZone)]++
		}
	}
	for _, r := range k.rooms {
		for _, o := range r.pods {
			if o.NodeName == "" && k.judge.Counts(p, o, component.LabelZone) {
				in[r.in()]++
			}
		}
	}
	return in
}

// place finds room for a pod: what is left of a claim on its way, or the whole of a new one.
func (l *placing) place(p *kube.Pod) (*cloud.Group, *room) {
	k, w := l.k, l.wishOf(p)
	for ; w.next < len(k.rooms); w.next++ {
		r := k.rooms[w.next]
		of := w.zones[r.claim.group]
		if (slices.Contains(of, "") || r.in() != "" && slices.Contains(of, r.in())) && r.holds(&k.judge, p, w.PerHost) {
			return r.claim.group, r
		}
	}
	for _, g := range k.cfg.Groups {
		if of := w.zones[g]; len(of) > 0 {
			n := k.newNode(g, of[0])
			return g, &room{zone: of[0], free: n.Room, allocatable: n.Allocatable}
		}
	}
	return nil, nil
}

// take has a pod take its place in a room.
func (l *placing) take(r *room, p *kube.Pod) {
	if len(r.pods) == 0 && r.zone != "" {
		l.alive[poolZone{r.claim.group, r.zone}] = l.machines(r.claim.group, r.zone) + 1
	}
	r.take(p)
	for _, w := range l.wishes { // the order changes nothing
		if w.Zoned() && l.k.judge.Counts(w.pod, p, component.LabelZone) {
			w.inZone[r.in()]++
		}
	}
}

// zonesFor are the zones of a NodePool in which a new node takes a pod.
func (l *placing) zonesFor(g *cloud.Group, p *kube.Pod, w *wish, volumes string) []string {
	k := l.k
	now := k.env.API.Now()
	var zones []string
	for _, zone := range g.Zones {
		if (volumes == "" || volumes == zone) && k.judge.RefusalsOf(p.Template, component.NeedOf(p), k.newNode(g, zone)) == nil {
			zones = append(zones, zone)
		}
	}
	if !w.Zoned() && len(zones) > 0 && len(zones) == len(g.Zones) {
		return []string{""} // the provider finds one with capacity
	}
	fewest := 0 // of those without capacity too, as the scheduler counts
	for i, zone := range zones {
		if in := w.inZone[zone]; i == 0 || in < fewest {
			fewest = in
		}
	}
	zones = slices.DeleteFunc(zones, func(zone string) bool {
		in := w.inZone[zone]
		return k.short[poolZone{g, zone}] > now || w.PerZone > 0 && in >= w.PerZone || w.ZoneSkew > 0 && in+1-fewest > w.ZoneSkew
	})
	slices.SortStableFunc(zones, func(a, b string) int {
		return cmp.Or(w.inZone[a]-w.inZone[b], l.machines(g, a)-l.machines(g, b))
	})
	return zones
}

// machines is how many machines a NodePool has in a zone.
func (l *placing) machines(g *cloud.Group, zone string) int {
	of := poolZone{g, zone}
	if _, ok := l.alive[of]; !ok {
		l.alive[of] = 0
		for _, i := range g.Instances() {
			if i.Zone == zone && i.Alive() {
				l.alive[of]++
			}
		}
	}
	return l.alive[of]
}

// newNodeOf is what a new node depends on.
type newNodeOf struct {
	group    *cloud.Group
	zone     string
	template cloud.Template
}

// newNode is what a new node of a NodePool is like in a zone, "" for the first, without what the pods of DaemonSets take there.
func (k *Karpenter) newNode(g *cloud.Group, zone string) *scheduler.NewNode {
	if zone == "" {
		zone = g.Zones[0]
	}
	of := newNodeOf{g, zone, g.Template}
	n := k.newNodes[of]
	if n == nil {
		next := k.cfg.Kubelets.Next(g, zone, k.env.Stream("karpenter", "shape", g.Name))
		labels := next.Labels.With("karpenter.sh/registered", "true").With("karpenter.sh/initialized", "true")
		n = &scheduler.NewNode{NodeGroup: scheduler.NodeGroup{Taints: next.Taints, Labels: labels}, Allocatable: next.Allocatable}
		n.Room = k.agents.Left(&k.judge, next.Room, &n.NodeGroup)
		k.newNodes[of] = n
	}
	return n
}

// mounted notes the zones of a pod's volumes: the one in which a pod first mounted them.
func (k *Karpenter) mounted(p *kube.Pod) {
	if p.Claim == "" && len(p.OtherClaims) == 0 {
		return
	}
	n := k.env.API.Node(p.NodeName)
	if n == nil {
		return
	}
	zone := n.Labels.Get(component.LabelZone)
	scheduler.EachClaim(p, func(of scheduler.ClaimName) {
		if k.volumes[of] == "" {
			k.volumes[of] = zone
		}
	})
}

// volumeZone is the zone of a pod's volumes, "" where they can be had in any; not ok is that they are in several.
func (k *Karpenter) volumeZone(p *kube.Pod) (zone string, ok bool) {
	ok = true
	scheduler.EachClaim(p, func(of scheduler.ClaimName) {
		if is := k.volumes[of]; is != "" {
			ok = ok && (zone == "" || zone == is)
			zone = is
		}
	})
	return zone, ok
}

// zoneFor is the zone that a node's replacement has to be in, "" for any: volumes, selectors and affinities of the pods that leave it bind
// it (SimulateScheduling of pkg/controllers/disruption/helpers.go). Where several would do it is that of the node.
func (k *Karpenter) zoneFor(g *cloud.Group, own string, n *kube.Node) string {
	may := slices.Clone(g.Zones)
	for _, p := range k.env.API.PodsOn(n.Name) {
		if !Leaves(p) || !p.Active() {
			continue
		}
		if company := k.judge.CompanyOf(p, &k.agents); company.Zoned() { // pods that are spread over zones fit where it was
			may = slices.DeleteFunc(may, func(zone string) bool { return zone != own })
		}
		volumes, _ := k.volumeZone(p)
		may = slices.DeleteFunc(may, func(zone string) bool {
			return volumes != "" && volumes != zone || k.judge.Refusal(p.Template, &k.newNode(g, zone).NodeGroup) != ""
		})
	}
	switch {
	case len(may) == 0 || len(may) == len(g.Zones):
		return ""
	case slices.Contains(may, own):
		return own
	}
	return may[0]
}

// roomFor reports whether a claim's node is there and has room for a pod.
func (k *Karpenter) roomFor(c *claim, p *kube.Pod) bool {
	if c.instance == nil {
		return false
	}
	n := k.env.API.Node(c.instance.Name)
	if n == nil || !n.Ready() || n.Unschedulable {
		return false
	}
	return k.roomOn(n).holds(&k.judge, p, k.judge.CompanyOf(p, &k.agents).PerHost)
}

// roomOn is what its pods leave of a node.
func (k *Karpenter) roomOn(n *kube.Node) *room {
	r := &room{free: component.AllocatableOf(n), allocatable: n.Allocatable}
	for _, on := range k.env.API.PodsOn(n.Name) {
		if !on.Terminal() {
			r.take(on)
		}
	}
	return r
}
