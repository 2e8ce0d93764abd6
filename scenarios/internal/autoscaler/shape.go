package autoscaler

import (
	"cmp"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// groupShape describes a group's next node.
type groupShape struct {
	template cloud.Template
	byZone   map[string]*scheduler.NewNode
	like     *scheduler.NewNode // one of them: they differ by their labels alone
}

// describe brings the shape of a new node up to date, and with it the scaler:
// a roll may give the group another type.
func (g *scaledGroup) describe() *groupShape {
	if g.shape != nil && g.shape.template == g.Template {
		return g.shape
	}
	s := &groupShape{template: g.Template, byZone: map[string]*scheduler.NewNode{}, like: &scheduler.NewNode{}}
	for i, zone := range g.Zones {
		n := g.a.cfg.Kubelets.Next(g.Group, zone, g.a.env.Stream("autoscaler", "shape", g.Name))
		like := &scheduler.NewNode{NodeGroup: scheduler.NodeGroup{Taints: n.Taints, Labels: n.Labels}, Allocatable: n.Allocatable}
		if i == 0 {
			s.like = like
			like.Room = g.a.agents.Left(&g.a.judge, n.Room, &like.NodeGroup)
		}
		like.Room = s.like.Room
		s.byZone[zone] = like
	}
	g.shape = s
	return s
}

// gives reports whether a taint is one that the group puts on its nodes.
func (g *scaledGroup) gives(t *kube.Taint) bool {
	for _, own := range g.describe().like.Taints {
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
	why := g.a.judge.RefusalsOf(d.template, d.need, like)
	if why == nil && d.Elsewhere {
		return []string{scheduler.ReasonNear}
	}
	return why
}
