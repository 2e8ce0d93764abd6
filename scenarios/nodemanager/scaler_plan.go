package nodemanager

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// Plan decides at a moment. It changes neither its arguments nor anything else. After the same calls of BootFailed and
// BootSucceeded, equal arguments give equal changes, in whatever order nodes and pods come: pods are served with a zone
// first, then by age and name, and nodes by name.
// Its cost grows as the sorting of both, not as their product.
//
//  1. Only waiting pods count, and only nodes in Creating, Created and Available that don't have to terminate.
//  2. A node that is bound to a waiting pod stays so; of two, the later by name: the other one is left alone until the pod has
//     its node. Any other binding is cleared.
//  3. Pods without a node get free ones that match exactly (see fits).
//  4. For the rest new nodes are started, unless they are known to be unavailable.
//  5. Standby pools take what they need of the free nodes, and start what is missing, unless that is unavailable or has
//     just failed.
//  6. Nodes that are left stop when they were idle for IdleGrace.
//
// The error names a pod or node that is nil, nameless or given twice, a standby pool that can't be, or a moment that
// isn't set.
func (s *BindingNodeScaler) Plan(nodes []*api.Node, pods []*api.Pod, now time.Time) (Changes, error) {
	if now.IsZero() {
		return Changes{}, errors.New("plan nodes: the moment is the zero time: want the time of the plan")
	}
	p, err := s.newPlan(nodes, pods, now, newNamer(s.config.Seed, uint64(now.UnixNano())))
	if err != nil {
		return Changes{}, fmt.Errorf("plan nodes: %w", err)
	}
	return p.decide(), nil
}

// plan is the state of one decision.
type plan struct {
	config *ScalerConfig
	boots  *bootHistory
	now    time.Time
	names  *namer

	waiting []*api.Pod  // to be served in this order
	nodes   []*api.Node // by name
	changes Changes
	refused map[place]bool // answers of config.Unavailable
}

// place is what the availability of a new node depends on.
type place struct {
	instanceType  string
	spot          bool
	privateIPOnly bool
	zone          string
}

func (s *BindingNodeScaler) newPlan(
	nodes []*api.Node, pods []*api.Pod, now time.Time, names *namer,
) (*plan, error) {
	if err := s.config.validate(); err != nil {
		return nil, err
	}
	p := &plan{
		config: &s.config, boots: s.boots, now: now, names: names, refused: map[place]bool{},
		changes: Changes{Bindings: map[string]string{}},
	}
	for i, node := range nodes {
		if node == nil || node.Name == "" {
			return nil, fmt.Errorf("node %d of %d: nil or without a name: want a named node", i, len(nodes))
		}
		if !names.take(node.Name) {
			return nil, fmt.Errorf("node %q is given twice: want each once", node.Name)
		}
		if node.Status.Phase.Usable() && !node.Spec.Terminate {
			p.nodes = append(p.nodes, node)
		}
	}
	seen := make(map[string]struct{}, len(pods))
	for i, pod := range pods {
		if pod == nil || pod.Name == "" {
			return nil, fmt.Errorf("pod %d of %d: nil or without a name: want a named pod", i, len(pods))
		}
		if _, ok := seen[pod.Name]; ok {
			return nil, fmt.Errorf("pod %q is given twice: want each once", pod.Name)
		}
		seen[pod.Name] = struct{}{}
		if pod.Status.Phase == api.PodWaiting {
			p.waiting = append(p.waiting, pod)
		}
	}
	slices.SortFunc(p.nodes, func(a, b *api.Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(p.waiting, servedBefore)
	p.leaveRivals()
	return p, nil
}

// leaveRivals takes the nodes out of the plan that a waiting pod is bound to beside a later one.
func (p *plan) leaveRivals() {
	holder := map[string]string{}
	for _, pod := range p.waiting {
		holder[pod.Name] = ""
	}
	for _, node := range p.nodes {
		if _, waits := holder[node.Status.BoundPodName]; waits {
			holder[node.Status.BoundPodName] = node.Name
		}
	}
	p.nodes = slices.DeleteFunc(p.nodes, func(node *api.Node) bool {
		last, waits := holder[node.Status.BoundPodName]
		return waits && last != node.Name
	})
}

// servedBefore orders pods: those that are bound to a zone find fewer nodes, so they choose first.
func servedBefore(a, b *api.Pod) int {
	return cmp.Or(
		cmp.Compare(zoneless(a), zoneless(b)),
		a.CreationTimestamp.Compare(b.CreationTimestamp),
		cmp.Compare(a.Name, b.Name),
	)
}

func zoneless(pod *api.Pod) int {
	if pod.Spec.Placement.AvailabilityZone == "" {
		return 1
	}
	return 0
}

// decide has Assign decide, and says in nodes and pods what it decided.
func (p *plan) decide() Changes {
	machines := make([]Machine[shape], len(p.nodes))
	for i, node := range p.nodes {
		machines[i] = Machine[shape]{
			Kind: p.config.kindOf(&node.Spec), Pool: poolOf(&node.Spec), Zone: node.Spec.Placement.AvailabilityZone,
			IdleSince: node.Status.IdleSince,
		}
	}
	a := Assign(p.rules(), machines, p.requests(), p.now)
	for r, m := range a.Served {
		if m >= 0 {
			p.changes.Bindings[p.waiting[r].Name] = p.nodes[m].Name
		}
	}
	for _, launch := range a.Start {
		p.launch(launch)
	}
	for _, r := range a.Unmet {
		p.changes.Unmet = append(p.changes.Unmet, Unmet{Pod: p.waiting[r].Name, Reason: CloudUnavailable})
	}
	p.change(&a)
	return p.changes
}

// rules are the configuration as Assign takes it.
func (p *plan) rules() Rules[shape] {
	rules := Rules[shape]{
		IdleGrace:   p.config.IdleGrace,
		Unavailable: func(r int) bool { return p.unavailable(placeOf(p.waiting[r])) },
		Paused: func(i int) bool {
			spec := p.config.Standby[i]
			return p.unavailable(place{instanceType: spec.InstanceType, spot: spec.Spot}) ||
				p.boots.pausing(bootKind{spec.InstanceType, spec.Spot}, p.now)
		},
	}
	for _, spec := range p.config.Standby {
		kind := shape{instanceType: spec.InstanceType, spot: spec.Spot, volume: p.config.DefaultVolumeSize}
		rules.Pools = append(rules.Pools, Pool[shape]{Kind: kind, Count: spec.Count})
	}
	return rules
}

// requests are the waiting pods, with the nodes that are bound to them.
func (p *plan) requests() []Request[shape] {
	holder := make(map[string]int, len(p.waiting))
	for i, node := range p.nodes {
		if pod := node.Status.BoundPodName; pod != "" {
			holder[pod] = i + 1
		}
	}
	requests := make([]Request[shape], len(p.waiting))
	for i, pod := range p.waiting {
		requests[i] = Request[shape]{
			Kinds: p.config.kindsFor(pod), Zone: pod.Spec.Placement.AvailabilityZone, Holds: holder[pod.Name],
		}
	}
	return requests
}

// launch adds a node to start.
func (p *plan) launch(l Launch) {
	if l.Request < 0 {
		p.changes.Start = append(p.changes.Start, p.standbyNode(&p.config.Standby[l.Pool]))
		return
	}
	pod := p.waiting[l.Request]
	node := p.nodeFor(pod)
	p.changes.Start = append(p.changes.Start, node)
	p.changes.Bindings[pod.Name] = node.Name
}

// change collects what has changed of the nodes, and those that stop.
func (p *plan) change(a *Assignment) {
	pods := make([]string, len(p.nodes))
	for r, m := range a.Served {
		if m >= 0 {
			pods[m] = p.waiting[r].Name
		}
	}
	after := make([]*api.Node, len(p.nodes))
	for i, node := range p.nodes {
		after[i] = node
		if pods[i] != node.Status.BoundPodName || !a.Idle[i].Equal(node.Status.IdleSince) {
			after[i] = node.DeepCopy()
			after[i].Status.BoundPodName, after[i].Status.IdleSince = pods[i], a.Idle[i]
			p.changes.Update = append(p.changes.Update, after[i])
		}
	}
	for _, m := range a.Stop {
		p.changes.Stop = append(p.changes.Stop, after[m].DeepCopy())
	}
}
