package invariant

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// What the node lifecycle controller keeps in step.
var (
	readyTaint = &Invariant{
		Name:     "ready-taint",
		Sentence: "A node has the NoSchedule taint not-ready while Ready is False, unreachable while it is Unknown, and neither while it is True, all within 1 s.",
		Source:   "kube-controller-manager, pkg/controller/nodelifecycle/node_lifecycle_controller.go, doNoScheduleTaintingPass",
	}
	pressureTaint = &Invariant{
		Name:     "pressure-taint",
		Sentence: "A node has the NoSchedule taint of a pressure, or of an unavailable network, while that condition is True, within 1 s.",
		Source:   "kube-controller-manager, pkg/controller/nodelifecycle/node_lifecycle_controller.go, nodeConditionToTaintKeyStatusMap",
	}
	cordonTaint = &Invariant{
		Name:     "cordon-taint",
		Sentence: "A node has the NoSchedule taint unschedulable while spec.unschedulable is true, and only then, within 1 s.",
		Source:   "kube-controller-manager, pkg/controller/nodelifecycle/node_lifecycle_controller.go, doNoScheduleTaintingPass",
	}
	oneNoExecute = &Invariant{
		Name:     "one-noexecute",
		Sentence: "A node has one of the NoExecute taints not-ready and unreachable, never both for more than 1 s.",
		Source:   "kube-controller-manager, pkg/controller/nodelifecycle/node_lifecycle_controller.go, markNodeForTainting; SwapNodeControllerTaint adds one, then removes the other",
	}
	taintTimeAdded = &Invariant{
		Name:     "taint-time-added",
		Sentence: "A taint that the node lifecycle controller adds has timeAdded; at registration, those NoSchedule ones come from kubelet and admission, without.",
		Source:   "kube-controller-manager, pkg/controller/util/node/controller_utils.go, SwapNodeControllerTaint; kubernetes, plugin/pkg/admission/nodetaint",
	}
	taintsOnce = &Invariant{
		Name:     "taints-once",
		Sentence: "A node has one taint of each key and effect.",
		Source:   "kubernetes, pkg/apis/core/validation/validation.go, validateNodeTaints",
	}
)

var taintInvariants = []*Invariant{readyTaint, pressureTaint, cordonTaint, oneNoExecute, taintTimeAdded, taintsOnce}

// trackedTaint is a taint, and when it came.
type trackedTaint struct {
	key, value, effect string
	since              time.Duration
}

const (
	noSchedule = string(corev1.TaintEffectNoSchedule)
	noExecute  = string(corev1.TaintEffectNoExecute)
)

// conditionTaints are the taints that follow a condition with a status.
var conditionTaints = [...]struct{ condition, status, key string }{
	{string(corev1.NodeReady), "False", corev1.TaintNodeNotReady},
	{string(corev1.NodeReady), "Unknown", corev1.TaintNodeUnreachable},
	{string(corev1.NodeMemoryPressure), "True", corev1.TaintNodeMemoryPressure},
	{string(corev1.NodeDiskPressure), "True", corev1.TaintNodeDiskPressure},
	{string(corev1.NodePIDPressure), "True", corev1.TaintNodePIDPressure},
	{string(corev1.NodeNetworkUnavailable), "True", corev1.TaintNodeNetworkUnavailable},
}

// The states of a node that a controller repairs: first those of conditionTaints.
const (
	repairCordon    = len(conditionTaints)
	repairNoExecute = repairCordon + 1
	repairCount     = repairCordon + 2
)

// reaction is the time that the controller gets.
const reaction = time.Second

func (c *Checker) taints(h *trackedObject, o *corev1.Node, s *step) {
	n := h.node
	executed := n.executes()
	if c.listTaints(h, o, s); executed && !n.executes() {
		c.hostOf(h.key.name).noExecute = c.at
	}
	for i := range conditionTaints {
		t := &conditionTaints[i]
		rule := pressureTaint
		if t.condition == string(corev1.NodeReady) {
			rule = readyTaint
		}
		what := ""
		if k := findCondition(n.conditions, t.condition); k != nil {
			what = contradiction(k.status == t.status, n.has(t.key, noSchedule), t.condition+" "+k.status, t.key)
		}
		if c.begins(&n.repairs[i], what) {
			c.checkOverdue(&n.repairs[i], h, reaction, rule, "the taint exactly while "+t.condition+" is "+t.status, c.controlled)
		}
	}
	if o.Spec.Unschedulable && !n.cordoned {
		n.cordonedAt = c.at
	}
	n.cordoned = o.Spec.Unschedulable
	spec := "spec.unschedulable unset"
	if n.cordoned {
		spec = "spec.unschedulable"
	}
	if c.begins(&n.repairs[repairCordon], contradiction(n.cordoned, n.has(corev1.TaintNodeUnschedulable, noSchedule), spec, corev1.TaintNodeUnschedulable)) {
		c.checkOverdue(&n.repairs[repairCordon], h, reaction, cordonTaint, "the taint exactly while spec.unschedulable", c.controlled)
	}
	both := ""
	if n.has(corev1.TaintNodeNotReady, noExecute) && n.has(corev1.TaintNodeUnreachable, noExecute) {
		both = "the NoExecute taints not-ready and unreachable"
	}
	if c.begins(&n.repairs[repairNoExecute], both) {
		c.checkOverdue(&n.repairs[repairNoExecute], h, reaction, oneNoExecute, "one of them", c.controlled)
	}
}

func (c *Checker) controlled() bool { return c.lifecycle }

// contradiction says what is wrong with a taint that should be there or not.
func contradiction(should, is bool, state, key string) string {
	switch {
	case should == is:
		return ""
	case should:
		return state + " without taint " + key + ":" + noSchedule
	}
	return state + " with taint " + key + ":" + noSchedule
}

func (n *trackedNode) has(key, effect string) bool {
	for i := range n.taints {
		if n.taints[i].key == key && n.taints[i].effect == effect {
			return true
		}
	}
	return false
}

// listTaints brings the node's taints up to date.
func (c *Checker) listTaints(h *trackedObject, o *corev1.Node, s *step) {
	n := h.node
	var room [8]trackedTaint
	now := room[:0]
	type id struct{ key, effect string }
	old := indexed(n.taints, func(t *trackedTaint) id { return id{t.key, t.effect} })
	present := indexed(o.Spec.Taints, func(t *corev1.Taint) id { return id{t.Key, string(t.Effect)} })
	for i := range o.Spec.Taints {
		t := &o.Spec.Taints[i]
		next := trackedTaint{t.Key, t.Value, string(t.Effect), c.at}
		if present.find(id{next.key, next.effect}) != t {
			c.report(h, taintsOnce, "taint "+next.key+":"+next.effect+" twice", "it once")
		}
		w := old.find(id{next.key, next.effect})
		if w != nil && w.value == next.value {
			next.since = w.since
		}
		now = append(now, next)
		c.timeAdded(h, t, w == nil && !s.first)
	}
	n.taints = append(n.taints[:0], now...)
}

// timeAdded checks a taint of the node lifecycle controller's; came says that
// it was added to a node that was there.
func (c *Checker) timeAdded(h *trackedObject, t *corev1.Taint, came bool) {
	if t.TimeAdded != nil {
		c.notFuture(h, "timeAdded", t.Key, t.TimeAdded.Time)
	}
	if !lifecycleKey(t.Key) {
		return
	}
	if t.TimeAdded != nil {
		c.lifecycle = true
		return
	}
	byController := came
	switch t.Effect {
	case corev1.TaintEffectNoExecute:
		byController = byController || t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
	case corev1.TaintEffectNoSchedule:
		byController = byController || t.Key == corev1.TaintNodeUnreachable
	default:
		return
	}
	if byController && c.lifecycle {
		c.report(h, taintTimeAdded, "taint "+t.Key+":"+string(t.Effect)+" without timeAdded", "the time at which the controller added it")
	}
}

// lifecycleKey reports whether taints with this key are the node lifecycle
// controller's.
func lifecycleKey(key string) bool {
	if key == corev1.TaintNodeUnschedulable {
		return true
	}
	for i := range conditionTaints {
		if conditionTaints[i].key == key {
			return true
		}
	}
	return false
}
