package roll

import (
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// gkeSurge is the surge upgrade of a GKE node pool ("Node pool upgrade strategies" in the documentation of Google
// Kubernetes Engine): the managed instance group grows by maxSurge, and maxSurge and maxUnavailable together are how
// many nodes are replaced at a time. An old node is cordoned and drained; budgets are respected for an hour at most,
// and ignored then. GKE itself deletes the Node of the instance that it has deleted.
type gkeSurge struct{ gke }

// GKESurge is the surge upgrade.
func GKESurge(b Base) Strategy { return gkeSurge{newGKE(b)} }

func (s gkeSurge) Drain(_ *cloud.Instance, n *kube.Node, done func(error)) {
	s.cordon(n, "", "")
	s.drains.Drain(n, s.patience(), done)
}

// gke holds what GKE's strategies have in common.
type gke struct {
	Base
	removing map[string]bool // by instance
}

// gkeDeletes is the time from the end of an instance to the deletion of its Node.
var gkeDeletes = model.Fixed(0)

func newGKE(b Base) gke {
	s := gke{b, map[string]bool{}}
	b.env.Cloud.Watch(func(c cloud.Change, i *cloud.Instance) {
		if c != cloud.Ended || i.State != cloud.Terminated || !s.removing[i.ID] {
			return
		}
		delete(s.removing, i.ID)
		b.env.After(b.env.Draw(&b.chance, gkeDeletes), func() {
			if n := b.env.API.Node(i.Name); n != nil && b.env.Cloud.ByNode(i.Name) == i {
				b.env.API.DeleteNode(n)
			}
		})
	})
	return s
}

// patience is GKE's drain: it never fails, and what is still there after its hour it deletes, and waits no second one.
func (s gke) patience() Drain {
	how := s.eviction()
	how.Force, how.ForceOnce = true, true
	return how
}

// Remove deletes the instance, and then its Node.
func (s gke) Remove(i *cloud.Instance, _ *kube.Node) {
	s.removing[i.ID] = true
	s.env.Cloud.Terminate(i, true)
}

// Says what the operation's error says.
func (s gke) Says(f Failure, node string) string {
	if f == Unjoined {
		return "All cluster resources were brought up, but: not all nodes of " + s.cfg.Group.Name +
			" have registered; this is likely due to Nodes failing to start correctly"
	}
	return s.Base.Says(f, node)
}
