package scheduler

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Company is how many pods like one may share a node that joins, for what launches nodes.
type Company struct {
	// PerHost bounds them on an empty node, 0 for no limit.
	PerHost int
	// PerZone bounds them in a zone, 0 for no limit; SpreadZones says that they have to be spread over zones.
	PerZone     int
	SpreadZones bool
	// Elsewhere says that the pod wants pods unlike itself on its node: no empty one will do.
	Elsewhere bool
}

// CompanyOf reads spread constraints and required affinities of a pod. A spread constraint is taken to count the pods of its
// own template.
func (s *Scheduler) CompanyOf(p *kube.Pod) (c Company) {
	for _, one := range p.Template.Spread {
		switch {
		case one.WhenUnsatisfiable != "DoNotSchedule":
		case one.TopologyKey == component.LabelHostname:
			c.PerHost = max(one.MaxSkew, 1)
		case one.TopologyKey == component.LabelZone:
			c.SpreadZones = true
		}
	}
	d := p.Template.Demands
	if d == nil {
		return c
	}
	like := func(t *kube.PodTerm) bool {
		sel := s.selection(p, t)
		return sel.selects(p.Namespace, s.namespaces[p.Namespace], p.Labels)
	}
	for i := range d.AntiAffinity {
		switch t := &d.AntiAffinity[i]; {
		case !like(t):
		case t.TopologyKey == component.LabelHostname:
			c.PerHost = 1
		case t.TopologyKey == component.LabelZone:
			c.PerZone = 1
		}
	}
	c.Elsewhere = slices.ContainsFunc(d.Affinity, func(t kube.PodTerm) bool { return t.TopologyKey == component.LabelHostname && !like(&t) })
	return c
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
		has, err := resource.ParseQuantity(n.Allocatable.Get(a.Resource))
		if err != nil || has.Value() < a.Value { // none
			why = append(why, "Insufficient "+a.Resource)
		}
	}
	return why
}
