package scheduler

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Company is how many pods like one may share a node that joins, for what launches nodes.
type Company struct {
	// PerHost bounds them on an empty node, 0 for no limit.
	PerHost int
	// PerZone bounds them in a zone, and ZoneSkew by how many a zone may have more than another; 0 for no limit.
	PerZone, ZoneSkew int
	// Elsewhere says that the pod wants pods unlike itself on its node, and none that a DaemonSet brings along: no
	// new node will do.
	Elsewhere bool
}

// Zoned reports whether it matters in which zones pods are.
func (c *Company) Zoned() bool { return c.PerZone > 0 || c.ZoneSkew > 0 }

// CompanyOf reads spread constraints and required affinities of a pod; agents are what a new node brings along. A spread
// constraint is taken to count the pods of its own template. Of an affinity's namespaceSelector nothing is known here: it is
// taken to select every namespace.
func (s *Scheduler) CompanyOf(p *kube.Pod, agents *Agents) (c Company) {
	for _, one := range p.Template.Spread {
		skew := max(one.MaxSkew, 1)
		switch {
		case one.WhenUnsatisfiable != "DoNotSchedule":
		case one.TopologyKey == component.LabelHostname:
			c.PerHost = min(cmp.Or(c.PerHost, skew), skew)
		case one.TopologyKey == component.LabelZone:
			c.ZoneSkew = min(cmp.Or(c.ZoneSkew, skew), skew)
		}
	}
	d := p.Template.Demands
	if d == nil {
		return c
	}
	for i := range d.AntiAffinity {
		switch t := &d.AntiAffinity[i]; {
		case !s.means(p, t, p.Namespace, p.Labels):
		case t.TopologyKey == component.LabelHostname:
			c.PerHost = 1
		case t.TopologyKey == component.LabelZone:
			c.PerZone = 1
		}
	}
	for i := range d.Affinity {
		t := &d.Affinity[i]
		found := t.TopologyKey != component.LabelHostname || s.means(p, t, p.Namespace, p.Labels)
		for _, a := range agents.all {
			found = found || s.means(p, t, a.namespace, a.labels)
		}
		c.Elsewhere = c.Elsewhere || !found
	}
	return c
}

// means reports whether a term of a pod means pods with some labels.
func (s *Scheduler) means(p *kube.Pod, t *kube.PodTerm, namespace string, labels kube.Pairs) bool {
	sel := s.selection(p, t)
	if t.NamespaceSelector != nil && s.namespaces[namespace] == nil {
		return sel.labels.Selects(labels)
	}
	return sel.selects(namespace, s.namespaces[namespace], labels)
}

// Counts reports whether another pod counts for a pod's limits by host or by zone, as [Company] has them.
func (s *Scheduler) Counts(p, other *kube.Pod, topologyKey string) bool {
	if p.Template.Origin() == other.Template.Origin() {
		return true
	}
	for _, one := range p.Template.Spread {
		if one.TopologyKey == topologyKey && p.Namespace == other.Namespace && len(one.Selector) > 0 && other.Labels.Holds(one.Selector) {
			return true
		}
	}
	return p.Template.Demands != nil && slices.ContainsFunc(p.Template.Demands.AntiAffinity, func(t kube.PodTerm) bool {
		return t.TopologyKey == topologyKey && s.means(p, &t, other.Namespace, other.Labels)
	})
}

// A NewNode is what a node of a group is like that joins and has no pods but those of DaemonSets.
type NewNode struct {
	NodeGroup
	Room component.Room
	// Allocatable has resources beside CPU and memory too.
	Allocatable kube.Pairs
}

// RefusalsOf says why a pod of a template can't run on a new node, in the scheduler's words; nil where it can.
func (s *Scheduler) RefusalsOf(t *kube.Template, need component.Room, n *NewNode) (why []string) {
	if no := s.Refusal(t, &n.NodeGroup); no != "" {
		return []string{no}
	}
	if need.Pods > n.Room.Pods {
		why = append(why, ReasonPods)
	}
	if need.CPU > n.Room.CPU {
		why = append(why, ReasonCPU)
	}
	if need.Memory > n.Room.Memory {
		why = append(why, ReasonMemory)
	}
	if t.Demands == nil {
		return why
	}
	for _, a := range t.Demands.More {
		if Amount(n.Allocatable, a.Resource) < a.Value {
			why = append(why, "Insufficient "+a.Resource)
		}
	}
	return why
}

// Amount is how much of a resource a node has; what can't be read is nothing.
func Amount(allocatable kube.Pairs, name string) int64 {
	q, err := resource.ParseQuantity(allocatable.Get(name))
	if err != nil {
		return 0
	}
	return q.Value()
}

// PortsClash reports whether two pods take the same port of a node.
func PortsClash(a, b *kube.Pod) bool {
	if a.Template.Demands == nil || b.Template.Demands == nil {
		return false
	}
	for _, want := range a.Template.Demands.Ports {
		if slices.ContainsFunc(b.Template.Demands.Ports, func(has kube.HostPort) bool { return clash(want, has) }) {
			return true
		}
	}
	return false
}

// clash is HostPortInfo.CheckConflict of pkg/scheduler/framework/types.go.
func clash(a, b kube.HostPort) bool {
	return a.Port == b.Port && a.Protocol == b.Protocol && (a.IP == b.IP || a.IP == allAddresses || b.IP == allAddresses)
}
