package actors

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/api"
)

// TaintEviction deletes the pods that don't tolerate a node's NoExecute taints,
// or tolerate them no longer (pkg/controller/tainteviction). It reports under
// the name that the cluster's version has for it.
type TaintEviction struct {
	env     *Env
	source  api.Source
	pending map[string]*pendingEviction // by the pod's UID
}

// pendingEviction is a deletion that is to come.
type pendingEviction struct {
	begun, due api.Instant
	off        bool
}

// NewTaintEviction starts the controller.
func NewTaintEviction(env *Env) *TaintEviction {
	t := &TaintEviction{env: env, source: api.Source{Component: env.Version.TaintEvictionComponent()}, pending: map[string]*pendingEviction{}}
	env.API.WatchNodes(func(c api.Change, old, n *api.Node) {
		if c == api.Modified && noExecute(old) != noExecute(n) || c == api.Added && noExecute(n) > 0 {
			env.After(0, func() { t.nodeChanged(n) })
		}
	})
	env.API.WatchPods(func(c api.Change, old, p *api.Pod) {
		switch {
		case c == api.Deleted:
			t.forget(p)
		case p.NodeName != "" && (c == api.Added || old.NodeName == ""):
			if n := env.API.Node(p.NodeName); n != nil && noExecute(n) > 0 {
				env.After(0, func() { t.podOn(p, n) })
			}
		}
	})
	return t
}

// noExecute tells sets of NoExecute taints apart; 0 is none. The set of a node
// changes by one taint at a time.
func noExecute(n *api.Node) (sum int) {
	for i, t := range n.Taints {
		if t.Effect == "NoExecute" {
			sum += (i + 1) * (len(t.Key) + 1)
		}
	}
	return sum
}

func (t *TaintEviction) nodeChanged(n *api.Node) {
	if n.Gone() {
		return
	}
	for _, p := range append([]*api.Pod(nil), t.env.API.PodsOn(n.Name)...) {
		t.podOn(p, n)
	}
}

// podOn is processPodOnNode.
func (t *TaintEviction) podOn(p *api.Pod, n *api.Node) {
	if p.Gone() || n.Gone() {
		return
	}
	least, any := int64(-1), false
	for _, taint := range n.Taints {
		if taint.Effect != "NoExecute" {
			continue
		}
		any = true
		tolerated, seconds := p.Tolerates(taint)
		if !tolerated {
			t.cancel(p)
			t.delete(p)
			return
		}
		if seconds >= 0 && (least < 0 || seconds < least) {
			least = seconds
		}
	}
	if !any || least < 0 {
		t.cancel(p)
		return
	}
	now := t.env.API.Now()
	begun := now
	due := now.Add(time.Duration(least) * time.Second)
	if was := t.pending[p.UID]; was != nil {
		begun = was.begun
		if begun.Add(time.Duration(least)*time.Second) < due {
			return
		}
		t.cancel(p)
	}
	e := &pendingEviction{begun: begun, due: due}
	t.pending[p.UID] = e
	t.env.After(due.Sub(now), func() {
		if !e.off && !p.Gone() {
			delete(t.pending, p.UID)
			t.delete(p)
		}
	})
}

func (t *TaintEviction) cancel(p *api.Pod) {
	if e := t.pending[p.UID]; e != nil {
		e.off = true
		delete(t.pending, p.UID)
		t.record(p, "Cancelling deletion of Pod "+p.Namespace+"/"+p.Name)
	}
}

func (t *TaintEviction) forget(p *api.Pod) {
	if e := t.pending[p.UID]; e != nil {
		e.off = true
		delete(t.pending, p.UID)
	}
}

func (t *TaintEviction) delete(p *api.Pod) {
	t.record(p, "Marking for deletion Pod "+p.Namespace+"/"+p.Name)
	t.env.API.UpdatePod(p, func(p *api.Pod) {
		p.Conditions = p.Conditions.Set(api.Condition{
			Type: "DisruptionTarget", Status: "True", Reason: "DeletionByTaintManager",
			Message: "Taint manager: deleting due to NoExecute taint", Transition: t.env.API.Now().Second(), Observed: observed(p),
		})
	})
	t.env.API.DeletePod(p, api.OwnGrace)
}

// record reports without a UID, as the controller does.
func (t *TaintEviction) record(p *api.Pod, message string) {
	t.env.API.Record(t.source, api.Reference{APIVersion: "v1", Kind: "Pod", Namespace: p.Namespace, Name: p.Name},
		"Normal", "TaintManagerEviction", message)
}

// observed is the observedGeneration of a condition that is set now; 0 where the
// cluster has none.
func observed(p *api.Pod) int64 {
	if p.ObservedGeneration > 0 {
		return p.Generation
	}
	return 0
}
