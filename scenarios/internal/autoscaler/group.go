package autoscaler

import (
	"cmp"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager"
	plancloud "github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
)

// scaledGroup is a group that the autoscaler scales. Each is decided about alone,
// with its own standby.
type scaledGroup struct {
	*cloud.Group
	a       *Autoscaler
	standby int
	plan    decision

	shape  *groupShape
	counts map[string]int // instances by zone, without those that are shutting down
	alive  int
	// leaving are instances that shut down, coming those that were launched and
	// have not been ready for pods yet.
	leaving, coming map[*cloud.Instance]struct{}
	open            []*scaledNode // nodes that are free
	recent          []*scaledNode // nodes whose room came up a short while ago

	asked    int // launches that were asked for by the autoscaler and haven't come
	failed   bool
	failures int
	pause    time.Duration // no launch before
	marks    *plancloud.Marks
	deleting int // nodes that are about to be terminated
}

func newScaledGroup(a *Autoscaler, g *cloud.Group) *scaledGroup {
	sg := &scaledGroup{Group: g, a: a, leaving: map[*cloud.Instance]struct{}{}, coming: map[*cloud.Instance]struct{}{}}
	var zones []plancloud.Subnet
	for _, z := range g.Zones {
		zones = append(zones, plancloud.Subnet{ID: z, Zone: z, Public: true})
	}
	sg.marks = plancloud.NewMarks(zones...)
	return sg
}

// kind is the type of the group's next instances.
func (g *scaledGroup) kind() string { return kindOf(g.Template) }

func kindOf(t cloud.Template) string { return cmp.Or(t.InstanceType, "instance") }

// follow keeps count of the group's instances.
func (g *scaledGroup) follow(c cloud.Change, i *cloud.Instance) {
	fresh := g.counts == nil
	g.count()
	switch c {
	case cloud.Launched:
		g.coming[i] = struct{}{}
		if fresh {
			g.move(i.Zone, -1) // it was counted with the others
		}
		if !g.Detached {
			g.passedOver(i.Zone)
			g.asked = max(0, g.asked-1)
		}
		g.move(i.Zone, 1)
	case cloud.ShutdownAsk:
		if !fresh {
			g.move(i.Zone, -1)
		}
		g.leaving[i] = struct{}{}
		delete(g.coming, i)
	case cloud.Ended:
		if i.State != cloud.Terminated {
			return
		}
		delete(g.coming, i)
		if _, known := g.leaving[i]; known {
			delete(g.leaving, i)
		} else if !fresh {
			g.move(i.Zone, -1)
		}
	}
}

// count counts the group's instances, once: no event reports those from before the tape began.
func (g *scaledGroup) count() {
	if g.counts != nil {
		return
	}
	g.counts = map[string]int{}
	for _, i := range g.Instances() {
		if i.State != cloud.ShuttingDown {
			g.move(i.Zone, 1)
		}
	}
}

func (g *scaledGroup) move(zone string, by int) {
	g.counts[zone] += by
	g.alive += by
}

// passedOver marks the zones that had fewer instances than the one in which the
// provider launched: they have no capacity.
func (g *scaledGroup) passedOver(zone string) {
	for _, z := range g.Zones {
		if g.counts[z] < g.counts[zone] {
			g.marks.Zone(g.kind(), g.Spot, z, g.a.now())
		}
	}
}

// noCapacity reports whether a launch in a zone was in vain lately.
func (g *scaledGroup) noCapacity(zone string) bool {
	return g.marks.Unavailable(g.kind(), g.Spot, false, zone, g.a.now())
}

// paused reports whether launches failed lately.
func (g *scaledGroup) paused() bool { return g.failures > 0 && g.a.env.Now() < g.pause }

// refused notes that the provider refused a launch.
func (a *Autoscaler) refused(g *cloud.Group, _ string) {
	if sg := a.byGroup[g]; sg != nil {
		sg.fail()
	}
}

// fail begins a pause: five minutes, and twice as long with each further failure
// up to half an hour. A failure during a pause is part of the same
// (utils/backoff/exponential_backoff.go).
func (g *scaledGroup) fail() {
	g.failed = true
	if g.paused() {
		return
	}
	g.failures++
	g.pause = g.a.env.Now() + nodemanager.Backoff{First: backoffGroupFirst, Max: backoffGroupMost}.After(g.failures)
}

// joined notes that an instance is ready for pods.
func (g *scaledGroup) joined(i *cloud.Instance) {
	if _, fresh := g.coming[i]; fresh {
		delete(g.coming, i)
		g.failures, g.failed = 0, false
	}
}

// look brings the group up to date at the beginning of a scan. Launches that
// were refused are given up, as deleteCreatedNodesWithErrors of
// core/static_autoscaler.go does, so that another group may be asked; what others
// have asked for stays.
func (g *scaledGroup) look() {
	g.count()
	g.describe()
	now := g.a.env.Now()
	g.recent = slices.DeleteFunc(g.recent, func(n *scaledNode) bool {
		n.recent = now-n.opened < settling && n.state != away
		return !n.recent
	})
	late := false
	for i := range g.coming {
		if now-i.Launched >= nodeStartup {
			delete(g.coming, i)
			late = true
		}
	}
	if late {
		g.fail()
	}
	if g.failed && !g.Detached {
		if back := min(g.asked, g.missing()); back > 0 {
			g.asked -= back
			g.a.env.Cloud.SetDesired(g.Group, g.Desired-back)
		}
	}
	g.failed = false
}

// size returns the number of instances that the group has or will have.
func (g *scaledGroup) size() int {
	if g.Detached {
		return g.alive + g.asked
	}
	return g.Desired
}

// missing returns the number of instances still to be launched.
func (g *scaledGroup) missing() int { return max(0, g.size()-g.alive) }

// spare returns the number of instances by which the group may still grow.
func (g *scaledGroup) spare() int { return max(0, g.Max-g.size()) }

func (g *scaledGroup) addFree(n *scaledNode) {
	n.place = len(g.open)
	g.open = append(g.open, n)
}

func (g *scaledGroup) dropFree(n *scaledNode) {
	last := len(g.open) - 1
	g.open[n.place] = g.open[last]
	g.open[n.place].place = n.place
	g.open[last] = nil
	g.open = g.open[:last]
}
