package autoscaler

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// groupShape describes a group's next node.
type groupShape struct {
	template cloud.Template
	room     component.Room                  // for pods that aren't of DaemonSets
	byZone   map[string]*scheduler.NodeGroup // labels and taints
	taints   []kube.Taint
	more     kube.Pairs // allocatable, with resources beside CPU and memory
}

// describe brings the shape of a new node up to date, and with it the scaler:
// a roll may give the group another type.
func (g *scaledGroup) describe() *groupShape {
	if g.shape != nil && g.shape.template == g.Template {
		return g.shape
	}
	s := &groupShape{template: g.Template, byZone: map[string]*scheduler.NodeGroup{}}
	for _, zone := range g.Zones {
		n := g.a.cfg.Kubelets.Next(g.Group, zone, g.a.env.Stream("autoscaler", "shape", g.Name))
		s.byZone[zone] = &scheduler.NodeGroup{Taints: n.Taints, Labels: n.Labels}
		s.taints, s.room, s.more = n.Taints, n.Room, n.Allocatable
	}
	if len(g.Zones) > 0 {
		s.room = g.a.agents.Left(&g.a.judge, s.room, s.byZone[g.Zones[0]])
	}
	g.shape = s
	return s
}

// gives reports whether a taint is one that the group puts on its nodes.
func (g *scaledGroup) gives(t *kube.Taint) bool {
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
		return []string{scheduler.ReasonAbsent}
	}
	like := s.byZone[cmp.Or(zone, g.Zones[0])]
	if like == nil {
		if d.zone != "" {
			return []string{"node(s) didn't match Pod's node affinity/selector"}
		}
		return []string{g.a.judge.ReasonVolume()}
	}
	if why := g.a.judge.Refusal(d.template, like); why != "" {
		return []string{why}
	}
	var why []string
	if d.need.Pods > s.room.Pods {
		why = append(why, scheduler.ReasonPods)
	}
	if d.need.CPU > s.room.CPU {
		why = append(why, scheduler.ReasonCPU)
	}
	if d.need.Memory > s.room.Memory {
		why = append(why, scheduler.ReasonMemory)
	}
	return append(why, s.lacks(d.template)...)
}

// lacks are the resources beside CPU and memory of which an empty node has too little for a pod.
func (s *groupShape) lacks(t *kube.Template) (why []string) {
	if t.Demands == nil {
		return nil
	}
	for _, a := range t.Demands.More {
		has, err := resource.ParseQuantity(s.more.Get(a.Resource))
		if err != nil || has.Value() < a.Value { // none
			why = append(why, "Insufficient "+a.Resource)
		}
	}
	return why
}
