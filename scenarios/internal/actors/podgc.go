package actors

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/api"
)

// PodGC is the pod garbage collector (pkg/controller/podgc): every twenty seconds
// it looks for pods of nodes that no longer exist, waits forty seconds more, and
// at the look behind that fails and removes them by force.
type PodGC struct {
	env     *Env
	missing []*missingNode
}

// missingNode is a node that pods are bound to and that isn't there.
type missingNode struct {
	name string
	seen api.Instant // by a look, 0 before
}

// NewPodGC starts the collector, whose looks begin at a moment of chance.
func NewPodGC(env *Env) *PodGC {
	g := &PodGC{env: env}
	env.API.WatchNodes(func(c api.Change, _, n *api.Node) {
		if c == api.Deleted {
			g.missing = append(g.missing, &missingNode{name: n.Name})
		}
	})
	chance := env.Stream("podgc")
	period := env.Timings.PodGCPeriod.Median()
	var look func()
	look = func() {
		g.look()
		env.After(period, look)
	}
	env.After(time.Duration(chance.N(uint64(max(period, 1)))), look)
	return g
}

func (g *PodGC) look() {
	now := g.env.API.Now()
	quarantine := g.env.Timings.PodGCQuarantine.Median()
	g.missing = slices.DeleteFunc(g.missing, func(m *missingNode) bool {
		pods := g.env.API.PodsOn(m.name)
		if g.env.API.Node(m.name) != nil || len(pods) == 0 {
			// A node of the name is back, and its kubelet knows what to do.
			return true
		}
		switch {
		case m.seen == 0:
			m.seen = now
		case now.Sub(m.seen) >= quarantine:
			for _, p := range slices.Clone(pods) {
				g.collect(p)
			}
			return true
		}
		return false
	})
}

// collect is markFailedAndDeletePodWithCondition.
func (g *PodGC) collect(p *api.Pod) {
	if !p.Terminal() {
		g.env.API.UpdatePod(p, func(p *api.Pod) {
			p.Phase = "Failed"
			if p.ObservedGeneration > 0 {
				p.ObservedGeneration = p.Generation
			}
			p.Conditions = p.Conditions.Set(api.Condition{
				Type: "DisruptionTarget", Status: "True", Reason: "DeletionByPodGC",
				Message: "PodGC: node no longer exists", Transition: g.env.API.Now().Second(), Observed: observed(p),
			})
		})
	}
	g.env.API.DeletePod(p, 0)
}
