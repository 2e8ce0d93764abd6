package scheduler

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// podFamily is the pods of a template and its variants, which are a workload's.
// It knows how many of them run where.
//
// A topologySpreadConstraint counts the pods of its own family: its selector is
// taken to select these and no others, as those of workloads do.
type podFamily struct {
	selector kube.Pairs // of nodes
	affinity *kube.NodeAffinity
	perHost  bool // there is a hard constraint on hosts

	onNode []uint16 // pods by the node's number, none that terminates
	inZone []int
	// spans counts the nodes that the template selects by how many of its pods
	// they run; only for a hard constraint on hosts.
	spans []int
}

// familyOf returns the family of a class.
func (s *Scheduler) familyOf(c *podClass) *podFamily {
	origin := c.template.Origin()
	f := s.byOrigin[origin]
	if f == nil {
		f = &podFamily{
			selector: origin.NodeSelector, affinity: affinityOf(origin),
			perHost: slices.ContainsFunc(c.hard, func(one kube.Spread) bool { return one.TopologyKey == component.LabelHostname }),
		}
		for _, n := range s.Env.API.Nodes() {
			f.nodeAdded(n)
		}
		s.byOrigin[origin] = f
		s.families = append(s.families, f)
	}
	return f
}

// count adds pods to those that run on a node. Zones count what runs on nodes
// that the template selects (nodeAffinityPolicy: Honor).
func (f *podFamily) count(n *schedNode, by int) {
	if n.number >= len(f.onNode) {
		f.onNode = append(f.onNode, make([]uint16, n.number+1-len(f.onNode)+len(f.onNode)/2)...)
	}
	was := int(f.onNode[n.number])
	f.onNode[n.number] = uint16(was + by)
	if f.selects(n.node.Name, n.node.Labels) {
		f.addZone(n.group.zone, by)
		if f.perHost {
			f.span(was, -1)
			f.span(was+by, 1)
		}
	}
}

func (f *podFamily) addZone(zone, by int) {
	for zone >= len(f.inZone) {
		f.inZone = append(f.inZone, 0)
	}
	f.inZone[zone] += by
}

func (f *podFamily) on(n *schedNode) int { return f.onNumber(n.number) }

func (f *podFamily) onNumber(n int) int {
	if n < len(f.onNode) {
		return int(f.onNode[n])
	}
	return 0
}

func (f *podFamily) in(zone int) int {
	if zone < len(f.inZone) {
		return f.inZone[zone]
	}
	return 0
}

func (f *podFamily) selects(name string, labels kube.Pairs) bool {
	return labels.Holds(f.selector) && f.affinity.Allows(name, labels)
}

// affinityOf is what a template asks of nodes, or nil.
func affinityOf(t *kube.Template) *kube.NodeAffinity {
	if t.Demands == nil {
		return nil
	}
	return t.Demands.NodeAffinity
}

func (f *podFamily) span(pods, by int) {
	for pods >= len(f.spans) {
		f.spans = append(f.spans, 0)
	}
	f.spans[pods] += by
}

func (f *podFamily) nodeAdded(n *kube.Node) {
	if f.perHost && f.selects(n.Name, n.Labels) {
		f.span(0, 1)
	}
}

// nodeDropped forgets the pods on a node that is gone.
func (f *podFamily) nodeDropped(n *schedNode) {
	f.leave(n, n.node.Labels, n.group.zone)
	if f.on(n) > 0 {
		f.onNode[n.number] = 0
	}
}

// relabelled counts the pods of a node again whose labels have changed.
func (f *podFamily) relabelled(n *schedNode, old *kube.Node, from, to int) {
	f.leave(n, old.Labels, from)
	if on := f.on(n); f.selects(n.node.Name, n.node.Labels) {
		f.addZone(to, on)
		if f.perHost {
			f.span(on, 1)
		}
	}
}

func (f *podFamily) leave(n *schedNode, labels kube.Pairs, zone int) {
	if on := f.on(n); f.selects(n.node.Name, labels) {
		f.addZone(zone, -on)
		if f.perHost {
			f.span(on, -1)
		}
	}
}

// fewestOnHost returns the number of pods of the class on the emptiest host.
func (f *podFamily) fewestOnHost() int {
	for pods, hosts := range f.spans {
		if hosts > 0 {
			return pods
		}
	}
	return 0
}
