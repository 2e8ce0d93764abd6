package actors

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/api"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager"
	planapi "github.com/nodesim/nodesim/scenarios/nodemanager/api"
	plancloud "github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
)

// scaledGroup is a group that the autoscaler scales. A scaler decides about it
// alone: that of a type and a market, with the group's own standby.
type scaledGroup struct {
	*cloud.Group
	a       *Autoscaler
	standby int
	scaler  *nodemanager.BindingNodeScaler
	plan    nodemanager.Changes

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
	dooming  int // nodes that are about to be terminated
}

// groupShape is what a group's next node will look like.
type groupShape struct {
	template cloud.Template
	room     room                  // for pods that aren't of DaemonSets
	byZone   map[string]*nodeGroup // labels and taints
	taints   []api.Taint
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

// describe brings the shape of a new node up to date, and with it the scaler:
// a roll may give the group another type.
func (g *scaledGroup) describe() *groupShape {
	if g.shape != nil && g.shape.template == g.Template {
		return g.shape
	}
	kubelets := &g.a.cfg.Kubelets
	s := &groupShape{template: g.Template, byZone: map[string]*nodeGroup{}}
	for _, zone := range g.Zones {
		i := &cloud.Instance{Zone: zone, Group: g.Group, Template: g.Template}
		chance := g.a.env.Stream("autoscaler", "shape", g.Name)
		n := kubelets.Shape(i).Node(kubelets.Place(i), &chance)
		s.taints = nil
		for _, t := range n.Taints {
			if !isStartup(t.Key) {
				s.taints = append(s.taints, api.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
			}
		}
		labels := pairs(n.AllLabels()).With(labelZone, zone)
		s.byZone[zone] = &nodeGroup{taints: s.taints, labels: labels}
		size := n.Allocatable
		if kubelets.Profile == KwokKubelet {
			size = n.Capacity
		}
		s.room = room{size.MilliCPU, size.MemoryBytes, size.Pods}
	}
	if len(g.Zones) > 0 {
		for _, t := range g.a.daemons {
			if g.a.judge.refusal(t, s.byZone[g.Zones[0]]) == "" {
				p := api.Pod{Template: t}
				cpu, memory := p.Requests()
				s.room = s.room.minus(room{cpu, memory, 1})
			}
		}
	}
	if g.scaler == nil || kindOf(g.shapeTemplate()) != g.kind() {
		g.scaler = g.newScaler()
	}
	g.shape = s
	return s
}

func (g *scaledGroup) shapeTemplate() cloud.Template {
	if g.shape == nil {
		return cloud.Template{}
	}
	return g.shape.template
}

func (g *scaledGroup) newScaler() *nodemanager.BindingNodeScaler {
	return nodemanager.NewScaler(nodemanager.ScalerConfig{
		Standby: []nodemanager.StandbyNodeSpec{{InstanceType: g.kind(), Count: g.standby, Spot: g.Spot}},
		Unavailable: func(_ string, _, _ bool, zone string, _ time.Time) bool {
			return g.paused() || g.noCapacity(zone)
		},
		IdleGrace: max(g.a.idleGrace, 1), Seed: g.a.env.Seed,
	})
}

// gives reports whether a taint is one that the group puts on its nodes.
func (g *scaledGroup) gives(t *api.Taint) bool {
	for _, own := range g.describe().taints {
		if own.Key == t.Key && own.Effect == t.Effect {
			return true
		}
	}
	return false
}

// refuses says why pods of a demand can't run on a new node of the group in a
// zone, in the scheduler's words; nil where they can. No zone is any.
func (g *scaledGroup) refuses(d *demand, zone string) []string {
	s := g.describe()
	if len(g.Zones) == 0 {
		return []string{reasonAbsent}
	}
	like := s.byZone[cmp.Or(zone, g.Zones[0])]
	if like == nil {
		if d.zone != "" {
			return []string{"node(s) didn't match Pod's node affinity/selector"}
		}
		return []string{g.a.judge.reasonVolume()}
	}
	if why := g.a.judge.refusal(d.template, like); why != "" {
		return []string{why}
	}
	var why []string
	if d.need.pods > s.room.pods {
		why = append(why, reasonPods)
	}
	if d.need.cpu > s.room.cpu {
		why = append(why, reasonCPU)
	}
	if d.need.memory > s.room.memory {
		why = append(why, reasonMemory)
	}
	return why
}

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

// count looks at the group's instances, once: nobody tells of those that were
// there before the tape began.
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

// size is how many instances the group has or will have.
func (g *scaledGroup) size() int {
	if g.Detached {
		return g.alive + g.asked
	}
	return g.Desired
}

// missing is how many instances are still to be launched.
func (g *scaledGroup) missing() int { return max(0, g.size()-g.alive) }

// spare is how many instances the group may still grow by.
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

// nodes describes to the scaler what may serve waiting pods: instances that were
// asked for, those that join, and free nodes.
func (g *scaledGroup) nodes() []*planapi.Node {
	var all []*planapi.Node
	add := func(name, kind, zone string, phase planapi.NodePhase) *planapi.Node {
		n := planapi.NewNode(name)
		n.Spec.InstanceType, n.Spec.Spot, n.Spec.Placement.AvailabilityZone = kind, g.Spot, zone
		n.Status.Phase = phase
		all = append(all, n)
		return n
	}
	for k, zone := range g.next(g.missing()) {
		add(fmt.Sprintf("asked-%05d", k), g.kind(), zone, planapi.NodeCreating)
	}
	for i := range g.coming { // the scaler sorts by name
		if n := g.a.nodes[i.Name]; i.Alive() && (n == nil || n.state == joining) {
			add(i.Name, kindOf(i.Template), i.Zone, planapi.NodeCreating)
		}
	}
	for _, n := range g.open {
		add(n.node.Name, kindOf(n.instance.Template), n.zone, planapi.NodeAvailable).Status.IdleSince = n.idle
	}
	return all
}

// next foretells the zones of the next launches: always the emptiest one that
// hasn't been passed over, as the provider balances.
func (g *scaledGroup) next(n int) []string {
	if n <= 0 || len(g.Zones) == 0 {
		return nil
	}
	var zones []string
	for _, z := range g.Zones {
		if !g.noCapacity(z) {
			zones = append(zones, z)
		}
	}
	if len(zones) == 0 {
		zones = g.Zones
	}
	counts := make([]int, len(zones))
	for i, z := range zones {
		counts[i] = g.counts[z]
	}
	out := make([]string, n)
	for k := range out {
		least := 0
		for i := range counts {
			if counts[i] < counts[least] {
				least = i
			}
		}
		counts[least]++
		out[k] = zones[least]
	}
	return out
}
