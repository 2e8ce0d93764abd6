package autoscaler

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// demand is the waiting pods of one template.
type demand struct {
	number   int
	template *kube.Template
	pod      *kube.Pod // one of them
	need     component.Room
	// zone is the one that the template selects, or "".
	zone string
	scheduler.Company

	pods    []*kube.Pod // in the order in which they came to wait; nil for those that don't any more
	waiting int
}

// unschedulable reports whether the scheduler has found no node for a pod. Pods
// of DaemonSets don't count: a new node would bring another one along
// (core/podlistprocessor/filter_out_daemon_sets.go).
func unschedulable(p *kube.Pod) bool {
	// FilterOutExpendableAndSplit (core/utils/expendable.go): pods for which the scheduler makes room by preemption, and those of less
	// than --expendable-pods-priority-cutoff.
	const expendable = -10
	if p.Nominated != "" || p.Template.Priority < expendable {
		return false
	}
	if p.NodeName != "" || p.Pinned != "" || p.Terminating() || p.Terminal() || p.Owner != nil && p.Owner.Kind == "DaemonSet" {
		return false
	}
	c := p.Conditions.Get("PodScheduled")
	return c != nil && c.Status == "False" && c.Reason == "Unschedulable"
}

// occupies reports whether a pod takes room on a node.
func occupies(p *kube.Pod) bool { return p.NodeName != "" && !p.Terminal() }

// pod follows the pods of the API.
func (a *Autoscaler) pod(c kube.Change, old, p *kube.Pod) {
	if c == kube.Deleted || !unschedulable(p) {
		a.served(p)
	} else if _, known := a.waiting[p]; !known {
		a.wait(p)
	}
	was := c != kube.Added && occupies(old)
	is := c != kube.Deleted && occupies(p)
	if is && !was {
		a.agent(p)
		a.claim(p)
		a.settled(p, p.NodeName, 1)
	} else if was && !is {
		a.settled(p, old.NodeName, -1)
	}
}

// wait adds a pod to its demand.
func (a *Autoscaler) wait(p *kube.Pod) {
	d := a.demandOf(p)
	a.waiting[p] = len(d.pods)
	d.pods = append(d.pods, p)
	d.waiting++
}

// served takes a pod out of its demand.
func (a *Autoscaler) served(p *kube.Pod) {
	at, known := a.waiting[p]
	if !known {
		return
	}
	delete(a.waiting, p)
	d := a.byPods[p.Template]
	d.pods[at] = nil
	d.waiting--
	if len(d.pods) < 32 || 2*d.waiting > len(d.pods) {
		return
	}
	d.pods = slices.DeleteFunc(d.pods, func(p *kube.Pod) bool { return p == nil })
	for i, p := range d.pods {
		a.waiting[p] = i
	}
}

// demandOf returns the demand that pods like p belong to.
func (a *Autoscaler) demandOf(p *kube.Pod) *demand {
	if d := a.byPods[p.Template]; d != nil {
		return d
	}
	d := &demand{
		number: len(a.demands), template: p.Template, pod: p, need: component.NeedOf(p),
		zone: p.Template.NodeSelector.Get(component.LabelZone), Company: a.judge.CompanyOf(p, &a.agents),
	}
	a.byPods[p.Template] = d
	a.demands = append(a.demands, d)
	return d
}

// running counts the pods like those of a demand by zone. A spread doesn't count pods that are being deleted (countPodsMatchSelector of
// pkg/scheduler/framework/plugins/podtopologyspread/common.go), an anti-affinity does.
func (a *Autoscaler) running(d *demand) map[string]int {
	zones := map[string]int{}
	for _, p := range a.env.API.Pods() {
		if p.Template.Origin() != d.template.Origin() || !occupies(p) || d.PerZone == 0 && p.Terminating() {
			continue
		}
		if n := a.nodes[p.NodeName]; n != nil {
			zones[n.zone]++
		}
	}
	return zones
}

// agent notes the templates of DaemonSets: each takes room on a new node.
func (a *Autoscaler) agent(p *kube.Pod) {
	if a.agents.Saw(p) {
		for _, g := range a.groups {
			g.shape = nil
		}
		for _, d := range a.demands {
			d.Company = a.judge.CompanyOf(d.pod, &a.agents)
		}
	}
}

// claim notes the zone of a volume: the one in which a pod first mounted it.
func (a *Autoscaler) claim(p *kube.Pod) {
	if p.Claim == "" {
		return
	}
	k := scheduler.ClaimName{Namespace: p.Namespace, Name: p.Claim}
	if n := a.nodes[p.NodeName]; n != nil && n.zone != "" && a.claims[k] == "" {
		a.claims[k] = n.zone
	}
}

// batch is waiting pods of one demand that may run in one zone, or in any.
type batch struct {
	*demand
	zone string
	pods []*kube.Pod
	full bool // no zone takes one more of these pods
}

// batches sorts what waits: first those that are bound to a zone, and of these
// and the others the large ones first, which pack best that way (decreasing
// order of estimator/binpacking_estimator.go).
func (a *Autoscaler) batches() []batch {
	var all []batch
	for _, d := range a.demands {
		if d.waiting == 0 {
			continue
		}
		pods := make([]*kube.Pod, 0, d.waiting)
		for _, p := range d.pods {
			if p != nil {
				pods = append(pods, p)
			}
		}
		switch {
		case d.zone != "" && d.PerZone == 0:
			all = append(all, batch{demand: d, zone: d.zone, pods: pods})
		case d.template.Volume != "" || d.Zoned():
			all = append(all, a.byZone(d, pods)...)
		default:
			all = append(all, batch{demand: d, pods: pods})
		}
	}
	slices.SortStableFunc(all, func(x, y batch) int {
		switch {
		case (x.zone == "") != (y.zone == ""):
			if x.zone == "" {
				return 1
			}
			return -1
		case x.need.CPU != y.need.CPU:
			return order(y.need.CPU, x.need.CPU)
		case x.need.Memory != y.need.Memory:
			return order(y.need.Memory, x.need.Memory)
		}
		return 0
	})
	return all
}

func order(x, y int64) int {
	if x < y {
		return -1
	}
	return 1
}

// byZone sorts pods by the zones of their volumes, and gives those that have to
// be spread over zones, or kept apart there, one each: the emptiest.
func (a *Autoscaler) byZone(d *demand, pods []*kube.Pod) []batch {
	zones := a.zonesOf(d)
	in := make([]int, len(zones))
	if d.Zoned() {
		running := a.running(d)
		for i, z := range zones {
			in[i] = running[z]
		}
	}
	var parts []batch
	for _, p := range pods {
		zone := a.claims[scheduler.ClaimName{Namespace: p.Namespace, Name: p.Claim}]
		if zone == "" {
			zone = d.zone
		}
		if zone == "" && d.Zoned() && len(zones) > 0 {
			least := 0
			for i := range in {
				if in[i] < in[least] {
					least = i
				}
			}
			zone = zones[least]
		}
		full := false
		if i := slices.Index(zones, zone); i >= 0 {
			full = d.PerZone > 0 && in[i] >= d.PerZone
			in[i]++
		}
		i := slices.IndexFunc(parts, func(b batch) bool { return b.zone == zone && b.full == full })
		if i < 0 {
			i = len(parts)
			parts = append(parts, batch{demand: d, zone: zone, full: full})
		}
		parts[i].pods = append(parts[i].pods, p)
	}
	return parts
}

// zonesOf lists the zones in which a demand's pods may get a node.
func (a *Autoscaler) zonesOf(d *demand) []string {
	var zones []string
	for _, g := range a.groups {
		for _, z := range g.Zones {
			if !slices.Contains(zones, z) && g.refuses(d, z) == nil && !g.noCapacity(z) {
				zones = append(zones, z)
			}
		}
	}
	return zones
}
