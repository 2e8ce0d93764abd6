package kubelet

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// unfit says why the kubelet doesn't take on a pod that a client has bound to its node, or "" (Admit of
// pkg/kubelet/lifecycle/predicate.go, AdmissionCheck of pkg/scheduler/eventhandlers.go). A scheduler's pods fit.
func (l *podWorker) unfit() (reason, message string) {
	p, n := l.p, l.m.node
	if !l.m.k.cfg.Fits || n == nil || p.Conditions.Get("PodScheduled") != nil {
		return "", ""
	}
	room, need := component.AllocatableOf(n), component.NeedOf(p)
	used := component.Room{}
	for _, o := range l.m.k.env.API.PodsOn(n.Name) {
		if o != p && !o.Terminal() {
			used = used.Plus(component.NeedOf(o))
		}
	}
	for _, of := range [...]struct {
		resource          string
		need, used, there int64
	}{{"pods", need.Pods, used.Pods, room.Pods}, {"cpu", need.CPU, used.CPU, room.CPU}, {"memory", need.Memory, used.Memory, room.Memory}} {
		if of.need > 0 && of.need > of.there-of.used {
			return "OutOf" + of.resource, fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", of.resource, of.need, of.used, of.there)
		}
	}
	d := p.Template.Demands
	if !n.Labels.Holds(p.Template.NodeSelector) || d != nil && !d.NodeAffinity.Allows(n.Name, n.Labels) {
		return "NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
	}
	for _, t := range n.Taints {
		if t.Effect == component.EffectNoExecute && !component.Tolerated(p.Template, kube.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}) {
			return "TaintToleration", "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
		}
	}
	return "", ""
}
