package cloud

import (
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Config configures a Cloud.
type Config struct {
	Loop *loop.Loop
	Seed uint64
	// Timings are those of a group's machines.
	Timings func(*Group) *model.Timings
	// Jitter in percent; see [model.Dist.Scaled].
	Jitter int
	// Identify fills in ID, Name and IP of an instance that is launched.
	Identify func(*Instance)
	// ShutdownGrace bounds the time that an instance's shutdown may take beyond that of Terminate; 0 for none.
	ShutdownGrace func(*Instance) time.Duration
}

// Cloud is the provider. It is for one goroutine.
type Cloud struct {
	cfg      Config
	groups   []*Group
	byID     map[string]*Instance
	byName   map[string]*Instance
	launched int
	adopted  bool // some were
	watchers []watcher
	// shortages are where there is no capacity, by zone and group; "" is any.
	shortages map[[2]string]int
	full      []func(*Group, string)

	Registry Registry
	Volumes  Volumes
}

// New returns a provider without groups.
func New(cfg Config) *Cloud {
	c := &Cloud{cfg: cfg, byID: map[string]*Instance{}, byName: map[string]*Instance{}, shortages: map[[2]string]int{}}
	c.Volumes.attached = map[string]string{}
	return c
}

// Watch has f called after every change of an instance.
func (c *Cloud) Watch(f func(Change, *Instance)) { c.WatchGroup(nil, f) }

// WatchGroup is Watch of one group's instances.
func (c *Cloud) WatchGroup(g *Group, f func(Change, *Instance)) {
	c.watchers = append(c.watchers, watcher{g, f})
}

// watcher is told of the instances of a group, or of all where that is nil.
type watcher struct {
	group *Group
	tell  func(Change, *Instance)
}

// WatchRefusals has f called after every launch that was refused for lack of capacity, with the zone that was tried.
func (c *Cloud) WatchRefusals(f func(g *Group, zone string)) { c.full = append(c.full, f) }

// AddGroup adds a group, with no instances yet.
func (c *Cloud) AddGroup(g *Group) { c.groups = append(c.groups, g) }

// Groups returns the groups in the order in which they were added.
func (c *Cloud) Groups() []*Group { return c.groups }

// Group returns the group of a name, or nil.
func (c *Cloud) Group(name string) *Group {
	for _, g := range c.groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// Instance returns the instance of an ID, or nil. Terminated ones are found.
func (c *Cloud) Instance(id string) *Instance { return c.byID[id] }

// ByNode returns the instance whose kubelet goes by a node name, the youngest of
// them, or nil.
func (c *Cloud) ByNode(name string) *Instance { return c.byName[name] }

// Launches returns how many instances there have been: the Number of the next.
func (c *Cloud) Launches() int { return c.launched }

// Skip leaves out the first numbers of instances, before there is one.
func (c *Cloud) Skip(n int) { c.launched += n }

// Seed adds an instance that has been running since before the tape began.
func (c *Cloud) Seed(g *Group, zone string) *Instance {
	i := c.add(g, zone, g.Template)
	i.State, i.Boot = Running, 1
	g.Desired = max(g.Desired, len(g.instances))
	return i
}

// Restore adds an instance that has been running since before, under the number
// that it had then.
func (c *Cloud) Restore(g *Group, zone string, number int, t Template) *Instance {
	next := c.launched
	c.launched = number
	i := c.add(g, zone, t)
	c.launched = max(next, number+1)
	i.State, i.Boot = Running, 1
	g.Desired = max(g.Desired, len(g.instances))
	return i
}

// Adopt adds an instance that somebody else has named and that runs already: ID, Name, Zone, IP, Template and Ailments
// are the caller's.
func (c *Cloud) Adopt(g *Group, i *Instance) {
	i.Number, i.Group, i.State, i.Boot, i.Launched = c.launched, g, Running, 1, c.cfg.Loop.Now()
	c.launched++
	c.adopted = true
	c.enter(i)
	g.Desired = max(g.Desired, len(g.instances))
}

func (c *Cloud) add(g *Group, zone string, t Template) *Instance {
	i := &Instance{Number: c.launched, Zone: zone, Group: g, Template: t, Launched: c.cfg.Loop.Now()}
	c.launched++
	c.cfg.Identify(i)
	for c.adopted && c.byName[i.Name] != nil { // adopted ones have names of their own
		i.Number = c.launched
		c.launched++
		c.cfg.Identify(i)
	}
	c.enter(i)
	return i
}

func (c *Cloud) enter(i *Instance) {
	i.Group.instances = append(i.Group.instances, i)
	c.byID[i.ID], c.byName[i.Name] = i, i
}

// SetDesired asks the provider to keep a group at a size. Missing instances are
// launched after a while, where there are fewest first; surplus ones are not
// terminated by that: say which, by [Cloud.Terminate].
func (c *Cloud) SetDesired(g *Group, n int) {
	g.Desired = max(n, 0)
	c.reconcile(g)
}

// reconcile launches what a group lacks, each after a delay of its own.
func (c *Cloud) reconcile(g *Group) {
	if g.Detached {
		return
	}
	for range g.Desired - len(g.instances) - g.pending {
		c.ask(g, "", 0)
	}
}

// ask puts one launch in the loop.
func (c *Cloud) ask(g *Group, zone string, refusals int) {
	g.pending++
	s := model.NewStreamAt(c.cfg.Seed, uint64(g.draws), "cloud", g.Name)
	g.draws++
	t := c.cfg.Timings(g)
	wait := t.CapacityRequest
	if refusals > 0 {
		wait = t.CapacityRetry
	}
	c.cfg.Loop.After(wait.Scaled(c.cfg.Jitter).Draw(&s), func() {
		g.pending--
		if len(g.instances)+g.pending >= g.Desired {
			return
		}
		at := c.emptiest(g)
		if !c.capacity(g, at) {
			g.refused++
			for _, f := range c.full {
				f(g, at)
			}
			c.ask(g, zone, refusals+1)
			return
		}
		c.start(g, at, g.Template)
	})
}

// emptiest returns the zone of a group that has the fewest instances; one
// without capacity only where no other has any.
func (c *Cloud) emptiest(g *Group) string {
	counts := make([]int, len(g.Zones))
	for _, i := range g.instances {
		if z := slices.Index(g.Zones, i.Zone); z >= 0 && i.State != ShuttingDown {
			counts[z]++
		}
	}
	best := -1
	for z, zone := range g.Zones {
		if c.capacity(g, zone) && (best < 0 || counts[z] < counts[best]) {
			best = z
		}
	}
	if best < 0 {
		best = int(uint(g.refused) % uint(len(g.Zones)))
	}
	return g.Zones[best]
}

// Launch launches one instance of a detached group at once, in a zone, or
// wherever there are fewest. It fails where there is no capacity.
func (c *Cloud) Launch(g *Group, zone string, t Template) (*Instance, error) {
	if zone == "" {
		zone = c.emptiest(g)
	}
	if !c.capacity(g, zone) {
		g.refused++
		return nil, &NoCapacity{Zone: zone, InstanceType: t.InstanceType, Spot: g.Spot}
	}
	return c.start(g, zone, t), nil
}

// NoCapacity is the error of a launch that the provider refused.
type NoCapacity struct {
	Zone, InstanceType string
	Spot               bool
}

func (e *NoCapacity) Error() string {
	return fmt.Sprintf("InsufficientInstanceCapacity: no %s in %s", e.InstanceType, e.Zone)
}

func (c *Cloud) start(g *Group, zone string, t Template) *Instance {
	i := c.add(g, zone, t)
	c.tell(Launched, i)
	c.boot(i)
	return i
}

// boot starts an instance's machine at once: how long the machine then takes up
// to its kubelet is the kubelet's affair.
func (c *Cloud) boot(i *Instance) {
	c.cfg.Loop.After(0, func() {
		if i.State == Pending {
			i.State = Running
			i.Boot++
			c.tell(Started, i)
		}
	})
}

// Terminate terminates an instance: its machine is told, has some time, and is
// gone. Where shrink is set, the group's desired size goes down by one; else the
// provider launches another in its place.
func (c *Cloud) Terminate(i *Instance, shrink bool) {
	if i.State == ShuttingDown || i.State == Terminated {
		return
	}
	if shrink && i.Group.Desired > 0 {
		i.Group.Desired--
	}
	i.State = ShuttingDown
	c.tell(ShutdownAsk, i)
	s := model.NewStream(c.cfg.Seed, "cloud", "terminate", i.ID)
	i.ends = c.cfg.Timings(i.Group).Terminate.Scaled(c.cfg.Jitter).Draw(&s)
	after := i.ends
	if c.cfg.ShutdownGrace != nil && !i.Ailments.Dead {
		after += c.cfg.ShutdownGrace(i)
	}
	c.cfg.Loop.After(after, func() { c.end(i, Terminated) })
}

// Halted says that the machine of an instance that is being terminated has shut
// down by itself: what is left of its grace is not waited for.
func (c *Cloud) Halted(i *Instance) {
	if i.State == ShuttingDown {
		c.cfg.Loop.After(i.ends, func() { c.end(i, Terminated) })
	}
}

// Kill ends an instance without a word. Where hidden is set, the provider still calls it running.
func (c *Cloud) Kill(i *Instance, hidden bool) {
	if i.State == Terminated {
		return
	}
	i.Ailments.Dead = true
	if hidden {
		i.Hidden = true
		c.tell(Ailing, i)
		return
	}
	c.end(i, Terminated)
}

// Restart boots a machine again: a reboot, or a reimage where the template is
// another one. The kubelet starts again.
func (c *Cloud) Restart(i *Instance, t Template) {
	if i.State == ShuttingDown || i.State == Terminated {
		return
	}
	i.State, i.Template, i.Ailments = Pending, t, Ailments{}
	c.tell(Ended, i)
	c.boot(i)
}

func (c *Cloud) end(i *Instance, state State) {
	if i.State == Terminated {
		return
	}
	i.State = state
	i.Ailments.Dead = true
	if state == Terminated {
		if at := slices.Index(i.Group.instances, i); at >= 0 {
			i.Group.instances = slices.Delete(slices.Clone(i.Group.instances), at, at+1)
		}
	}
	c.tell(Ended, i)
	if state == Terminated {
		c.reconcile(i.Group)
	}
}

// Interrupt announces that a spot instance is taken back after a lead, and takes
// it then.
func (c *Cloud) Interrupt(i *Instance, lead time.Duration) {
	if i.State != Running && i.State != Pending || i.Notice != 0 {
		return
	}
	now := c.cfg.Loop.Now()
	i.Noticed, i.Notice = now, now+lead
	c.tell(Told, i)
	c.cfg.Loop.After(lead, func() { c.Terminate(i, false) })
}

// Recommend gives a rebalance recommendation.
func (c *Cloud) Recommend(i *Instance) {
	if i.Rebalance == 0 {
		i.Rebalance = max(c.cfg.Loop.Now(), 1)
		c.tell(Told, i)
	}
}

// Ail changes what is wrong with a machine.
func (c *Cloud) Ail(i *Instance, change func(*Ailments)) {
	was := i.Ailments
	if change(&i.Ailments); i.Ailments != was {
		c.tell(Ailing, i)
	}
}

// Shortage takes capacity away, in a zone and of a group, "" for any, or gives
// it back. Shortages add up.
func (c *Cloud) Shortage(zone, group string, begins bool) {
	if begins {
		c.shortages[[2]string{zone, group}]++
	} else {
		c.shortages[[2]string{zone, group}]--
	}
}

func (c *Cloud) capacity(g *Group, zone string) bool {
	for _, k := range [...][2]string{{"", ""}, {zone, ""}, {"", g.Name}, {zone, g.Name}} {
		if c.shortages[k] > 0 {
			return false
		}
	}
	return true
}

func (c *Cloud) tell(change Change, i *Instance) {
	for _, w := range c.watchers {
		if w.group == nil || w.group == i.Group {
			w.tell(change, i)
		}
	}
}
