package controllers

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// TaintEviction deletes the pods that don't tolerate a node's NoExecute taints,
// or tolerate them no longer (pkg/controller/tainteviction). It reports under
// the name that the cluster's version has for it.
type TaintEviction struct {
	env     *component.Env
	chance  model.Stream
	source  kube.Source
	pending map[*kube.Pod]*loop.Timer // deletions that are to come
}

// NewTaintEviction starts the controller.
func NewTaintEviction(env *component.Env) *TaintEviction {
	t := &TaintEviction{
		env: env, chance: env.Stream("taint-eviction"),
		source: kube.Source{Component: env.Version.TaintEvictionComponent()}, pending: map[*kube.Pod]*loop.Timer{},
	}
	env.API.WatchNodes(func(c kube.Change, old, n *kube.Node) {
		if c == kube.Modified && !sameNoExecute(old.Taints, n.Taints) || c == kube.Added && noExecute(n) {
			t.soon(func() { t.nodeChanged(n) })
		}
	})
	env.API.WatchPods(func(c kube.Change, old, p *kube.Pod) {
		switch {
		case c == kube.Deleted:
			if t.pending[p] != nil {
				t.soon(func() { t.cancel(p) })
			}
		case p.NodeName != "" && (c == kube.Added || old.NodeName == "" || !sameTolerations(old.Template, p.Template)):
			if n := env.API.Node(p.NodeName); n != nil && noExecute(n) {
				t.soon(func() { t.podOn(p, n) })
			}
		}
	})
	return t
}

func sameTolerations(a, b *kube.Template) bool {
	return a == b || slices.Equal(a.Tolerations, b.Tolerations)
}

// soon does something when the controller has seen its cause.
func (t *TaintEviction) soon(do func()) {
	t.env.After(t.env.Draw(&t.chance, t.env.Timings.EventLag), do)
}

func noExecute(n *kube.Node) bool {
	return slices.ContainsFunc(n.Taints, func(t kube.Taint) bool { return t.Effect == "NoExecute" })
}

// sameNoExecute compares the NoExecute taints of two states.
func sameNoExecute(old, now []kube.Taint) bool {
	if kube.Identical(old, now) {
		return true
	}
	for {
		for len(old) > 0 && old[0].Effect != "NoExecute" {
			old = old[1:]
		}
		for len(now) > 0 && now[0].Effect != "NoExecute" {
			now = now[1:]
		}
		switch {
		case len(old) == 0 || len(now) == 0:
			return len(old) == len(now)
		case old[0] != now[0]:
			return false
		}
		old, now = old[1:], now[1:]
	}
}

// nodeChanged is handleNodeUpdate.
func (t *TaintEviction) nodeChanged(n *kube.Node) {
	if n.Gone() {
		return
	}
	for _, p := range slices.Clone(t.env.API.PodsOn(n.Name)) {
		t.podOn(p, n)
	}
}

// podOn is processPodOnNode: it deletes the pod at once, or when the shortest of
// the tolerations that it needs has run out, or not at all. A deletion that is
// under way stays at its moment when taints come on top of others.
func (t *TaintEviction) podOn(p *kube.Pod, n *kube.Node) {
	if p.Gone() || n.Gone() {
		return
	}
	least := int64(-1) // for ever
	for _, taint := range n.Taints {
		if taint.Effect != "NoExecute" {
			continue
		}
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
	switch {
	case least < 0:
		t.cancel(p)
	case t.pending[p] == nil:
		t.pending[p] = t.env.Timer(time.Duration(least)*time.Second, func() {
			delete(t.pending, p)
			t.delete(p)
		})
	}
}

// cancel cancels a deletion, which shows in an event even where the pod has
// gone by itself.
func (t *TaintEviction) cancel(p *kube.Pod) {
	if timer := t.pending[p]; timer != nil {
		timer.Stop()
		delete(t.pending, p)
		t.record(p, "Cancelling deletion of Pod "+p.Namespace+"/"+p.Name)
	}
}

// delete is addConditionAndDeletePod after its event.
func (t *TaintEviction) delete(p *kube.Pod) {
	if p.Gone() {
		return
	}
	t.record(p, "Marking for deletion Pod "+p.Namespace+"/"+p.Name)
	t.env.API.UpdatePod(p, func(p *kube.Pod) {
		p.Conditions = p.Conditions.Set(kube.Condition{
			Type: "DisruptionTarget", Status: "True", Reason: "DeletionByTaintManager",
			Message: "Taint manager: deleting due to NoExecute taint", Transition: t.env.API.Now().Second(), Observed: observed(p),
		})
	})
	t.env.API.DeletePod(p, kube.OwnGrace)
}

// record reports without a UID, as the controller does.
func (t *TaintEviction) record(p *kube.Pod, message string) {
	t.env.API.Record(t.source, kube.Reference{APIVersion: "v1", Kind: "Pod", Namespace: p.Namespace, Name: p.Name},
		"Normal", "TaintManagerEviction", message)
}

// observed is the observedGeneration of a condition that is set now; 0 where the
// cluster has none.
func observed(p *kube.Pod) int64 {
	if p.ObservedGeneration > 0 {
		return p.Generation
	}
	return 0
}
