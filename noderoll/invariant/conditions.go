package invariant

import (
	"slices"
	"time"
)

// What holds for the conditions of any object.
var (
	conditionsOnce = &Invariant{
		Name:     "conditions-once",
		Sentence: "An object has one condition of each type.",
		Source:   "api, core/v1 and policy/v1 types.go: conditions are lists with map key type",
	}
	transitionWithStatus = &Invariant{
		Name:     "transition-with-status",
		Sentence: "The lastTransitionTime of a condition of the kubelet, the API server or the disruption controller moves only when its status does, and never back; that of a PodScheduled that stays False may move forward, and that of a pod's Ready may go back as it turns from False to True.",
		Source:   "kubelet, pkg/kubelet/nodestatus/setters.go and status/status_manager.go, updateLastTransitionTime, and needsReconcile: a kubelet that comes back posts the status it has of a pod over that of MarkPodsNotReady; apimachinery, pkg/api/meta/conditions.go, SetStatusCondition; kube-scheduler, pkg/scheduler/schedule_one.go, updatePod: it compares with the pod in its queue, which may not have its last write yet",
	}
)

// trackedCondition is a condition as far as it is compared with its next state.
type trackedCondition struct {
	typ, status string
	transition  time.Time
	heartbeat   time.Time // of nodes
	late        bool      // the kubelet's late post has moved the heartbeat of a condition that the node lifecycle controller turned Unknown
}

// steady reports whether a condition's writers keep the rule of transition times.
// Others, such as node problem detectors and operators, may do as they like.
func steady(typ string) bool {
	switch typ {
	case "Ready", "MemoryPressure", "DiskPressure", "PIDPressure",
		"PodScheduled", "Initialized", "ContainersReady", "PodReadyToStartContainers", "DisruptionTarget",
		"DisruptionAllowed":
		return true
	}
	return false
}

// conditionIndex is an index of conditions by their type that calls no function where they are few.
type conditionIndex struct {
	index[string, trackedCondition]
}

func indexConditions(list []trackedCondition) (x conditionIndex) {
	if x.list = list; len(list) > fewIndexed {
		x.index = indexed(list, func(k *trackedCondition) string { return k.typ })
	}
	return x
}

func (x *conditionIndex) find(typ string) *trackedCondition {
	if x.m != nil {
		return x.index.find(typ)
	}
	return findCondition(x.list, typ)
}

func findCondition(all []trackedCondition, typ string) *trackedCondition {
	for i := range all {
		if all[i].typ == typ {
			return &all[i]
		}
	}
	return nil
}

// conditions compares the conditions of an object with those of its state
// before, and returns what to hold of them, in old's memory where it can.
func (c *Checker) conditions(h *trackedObject, jump bool, old, now []trackedCondition) []trackedCondition {
	if slices.Equal(old, now) {
		return old // all of it was looked at, and time only goes on
	}
	before, present := indexConditions(old), indexConditions(now)
	for i := range now {
		n := &now[i]
		if present.find(n.typ) != n {
			c.report(h, conditionsOnce, "condition "+n.typ+" twice", "it once")
			continue
		}
		if !n.transition.IsZero() {
			c.notFuture(h, "lastTransitionTime", n.typ, n.transition)
		}
		if !steady(n.typ) {
			continue
		}
		o := before.find(n.typ)
		if o == nil || o.transition.Equal(n.transition) || o.transition.IsZero() {
			continue
		}
		switch {
		case h.pod != nil && n.typ == "Ready" && o.status == "False" && n.status == "True" && !n.transition.Before(h.created.Add(-c.opts.tolerance())):
			// The kubelet was cut off, and its status of the pod is older than that of the node lifecycle controller.
		case n.transition.Before(o.transition.Add(-c.opts.Slack)):
			c.report(h, transitionWithStatus, "lastTransitionTime "+stamp(n.transition)+" of "+n.typ+" after "+stamp(o.transition), "none that is earlier")
		case o.status == n.status && !jump && (n.typ != "PodScheduled" || n.status != "False"):
			c.report(h, transitionWithStatus, "lastTransitionTime of "+n.typ+" moved from "+stamp(o.transition)+" to "+stamp(n.transition)+" with status "+n.status, "it to stay while the status does")
		}
	}
	return append(old[:0], now...)
}
