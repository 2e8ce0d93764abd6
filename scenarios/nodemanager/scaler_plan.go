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
//  2. A node that is bound to a waiting pod stays so; of two, the later by name. Any other binding is cleared.
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
	boots  *bootLedger
	now    time.Time
	names  *namer

	waiting []*api.Pod   // to be served in this order
	nodes   []*candidate // by name
	changes Changes
	refused map[place]bool // answers of config.Unavailable
}

// A candidate is a node that may serve a pod, with what the plan makes of it.
type candidate struct {
	node      *api.Node
	pod       string // that it is bound to
	idleSince time.Time
	needed    bool // bound, or kept for a pool
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
			p.nodes = append(p.nodes, &candidate{node: node, idleSince: node.Status.IdleSince})
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
	slices.SortFunc(p.nodes, func(a, b *candidate) int { return cmp.Compare(a.node.Name, b.node.Name) })
	slices.SortFunc(p.waiting, servedBefore)
	return p, nil
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

// decide runs the steps that Plan lists.
func (p *plan) decide() Changes {
	p.keepBindings()
	p.serve()
	p.fillPools()
	p.settle()
	return p.changes
}

// keepBindings reads the bindings from the nodes, as far as their pods still wait.
func (p *plan) keepBindings() {
	waits := make(map[string]bool, len(p.waiting))
	for _, pod := range p.waiting {
		waits[pod.Name] = true
	}
	holder := make(map[string]*candidate, len(p.waiting))
	for _, c := range p.nodes {
		pod := c.node.Status.BoundPodName
		if pod == "" || !waits[pod] {
			continue
		}
		if earlier := holder[pod]; earlier != nil {
			earlier.free()
		}
		holder[pod] = c
		p.bind(c, pod)
	}
}

// serve gives every waiting pod without a node a free one, or starts one.
func (p *plan) serve() {
	free := newFreeNodes(p.nodes, p.config.FixedSizeVolume)
	for _, pod := range p.waiting {
		if _, bound := p.changes.Bindings[pod.Name]; bound {
			continue
		}
		if c := free.take(pod, p.config); c != nil {
			p.bind(c, pod.Name)
			continue
		}
		node := p.nodeFor(pod)
		if node == nil {
			p.changes.Unmet = append(p.changes.Unmet, Unmet{Pod: pod.Name, Reason: CloudUnavailable})
			continue
		}
		p.changes.Start = append(p.changes.Start, node)
		p.changes.Bindings[pod.Name] = node.Name
	}
}

// settle decides about free nodes, and collects what has changed.
func (p *plan) settle() {
	for _, c := range p.nodes {
		stop := false
		switch {
		case c.needed:
			c.idleSince = time.Time{}
		case p.config.IdleGrace <= 0:
			stop = true
		case c.idleSince.IsZero():
			c.idleSince = p.now
		default:
			stop = p.now.Sub(c.idleSince) >= p.config.IdleGrace
		}
		after := c.node
		if c.pod != c.node.Status.BoundPodName || !c.idleSince.Equal(c.node.Status.IdleSince) {
			after = c.node.DeepCopy()
			after.Status.BoundPodName, after.Status.IdleSince = c.pod, c.idleSince
			p.changes.Update = append(p.changes.Update, after)
		}
		if stop {
			p.changes.Stop = append(p.changes.Stop, after.DeepCopy())
		}
	}
}

func (p *plan) bind(c *candidate, pod string) {
	c.pod, c.needed = pod, true
	p.changes.Bindings[pod] = c.node.Name
}

func (c *candidate) free() { c.pod, c.needed = "", false }
