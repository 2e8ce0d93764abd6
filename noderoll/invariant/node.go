package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// What holds for a node and the conditions of its kubelet.
var (
	heartbeatAfterTransition = &Invariant{
		Name:     "heartbeat-after-transition",
		Sentence: "A condition that the kubelet posts has no lastTransitionTime after its lastHeartbeatTime.",
		Source:   "kubelet, pkg/kubelet/nodestatus/setters.go: both are set to one instant, and heartbeats go on",
	}
	unknownKeepsHeartbeat = &Invariant{
		Name:     "unknown-keeps-heartbeat",
		Sentence: "A condition that the node lifecycle controller turned Unknown keeps the kubelet's lastHeartbeatTime, so that its transition is later.",
		Source:   "kube-controller-manager, pkg/controller/nodelifecycle/node_lifecycle_controller.go, tryUpdateNodeHealth",
	}
	unknownTogether = &Invariant{
		Name:     "unknown-together",
		Sentence: "The four kubelet conditions turn Unknown together, with one lastTransitionTime. A kubelet's late post may mix them up to its next one.",
		Source:   "kube-controller-manager, pkg/controller/nodelifecycle/node_lifecycle_controller.go, tryUpdateNodeHealth",
	}
	heartbeatsForward = &Invariant{
		Name:     "heartbeats-forward",
		Sentence: "The lastHeartbeatTime of a kubelet condition never goes back.",
		Source:   "kubelet, pkg/kubelet/nodestatus/setters.go: each post carries the time of the post",
	}
	conditionsWithNode = &Invariant{
		Name:     "conditions-with-node",
		Sentence: "Kubelet conditions are at most 5 s older than their node: a kubelet builds its first status just before it registers.",
		Source:   "kubelet, pkg/kubelet/kubelet_node_status.go, initialNode",
	}
	providerIDKept = &Invariant{
		Name:     "provider-id-kept",
		Sentence: "spec.providerID and spec.podCIDR are set once and never change.",
		Source:   "kubernetes, pkg/apis/core/validation/validation.go, ValidateNodeUpdate",
	}
)

var nodeInvariants = []*Invariant{
	conditionsOnce, transitionWithStatus, heartbeatAfterTransition, unknownKeepsHeartbeat, unknownTogether, heartbeatsForward,
	conditionsWithNode, providerIDKept,
}

// registerAhead bounds how much older than its node a condition may be.
const registerAhead = 5 * time.Second

// nextPost is how long conditions of a recording may be mixed. A kubelet patches what differs from the node that it has
// read (pkg/kubelet/kubelet_node_status.go, tryUpdateNodeStatus), without a version: one that was suspended in between,
// while the node lifecycle controller gave it up, posts one condition beside three that are Unknown, and all four ten
// seconds later (nodeStatusUpdateFrequency).
const nextPost = 10 * time.Second

// trackedNode holds what is remembered of a node.
type trackedNode struct {
	conditions []trackedCondition
	ready      bool
	readySince time.Duration // only while ready
	mixed      bool          // some kubelet conditions are Unknown, and some aren't, since mixedAt
	mixedAt    time.Duration
	apart      bool // they were mixed, and are Unknown since different times
	fell       bool // Ready went from True to Unknown, and is that still
	taints     []trackedTaint
	repairs    [repairCount]standing
	providerID string
	podCIDR    string
	unknown    standing
	cordoned   bool
	cordonedAt time.Duration
	roll       rollNode
}

// byKubelet reports whether the kubelet posts a condition of this type.
func byKubelet(typ string) bool {
	switch corev1.NodeConditionType(typ) {
	case corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure:
		return true
	}
	return false
}

func (c *Checker) node(h *trackedObject, o *corev1.Node, s *step) {
	n := h.node
	if n == nil {
		n = c.memory.nodes.take()
		*n = trackedNode{conditions: n.conditions[:0], taints: n.taints[:0]}
		h.node = n
		c.nodeCame(h)
	}
	c.kept(h, "providerID", &n.providerID, o.Spec.ProviderID)
	c.kept(h, "podCIDR", &n.podCIDR, o.Spec.PodCIDR)
	c.nodeConditions(h, o, s)
	ready := findCondition(n.conditions, string(corev1.NodeReady))
	was := n.ready
	if n.ready = ready != nil && ready.status == string(corev1.ConditionTrue); n.ready && !was {
		n.readySince = c.at
	}
	n.fell = ready != nil && ready.status == string(corev1.ConditionUnknown) && (was || n.fell)
	c.unready(h, n.fell)
	c.taints(h, o, s)
	c.rollNode(h, o, s)
}

// kept checks a member that is set once.
func (c *Checker) kept(h *trackedObject, member string, was *string, now string) {
	if *was != "" && now != *was {
		c.report(h, providerIDKept, "spec."+member+" "+now+" after "+*was, "it to stay")
	}
	*was = now
}

// late reports whether a condition of a recording is one that the node lifecycle controller turned Unknown, and on which a post of the kubelet came
// that had been made before (nextPost): the patch moves the heartbeat, and the transition stays the controller's.
func (c *Checker) late(was, is *trackedCondition) bool {
	return c.opts.Skew > 0 && was != nil && was.transition.Equal(is.transition) &&
		(was.late || was.status == string(corev1.ConditionUnknown) && is.heartbeat.After(was.heartbeat))
}

func (c *Checker) nodeConditions(h *trackedObject, o *corev1.Node, s *step) {
	now := c.room[:0]
	var unknown time.Time
	mixed, apart := c.opts.Skew > 0 && (h.node.mixed || h.node.apart), false
	for i := range o.Status.Conditions {
		k := &o.Status.Conditions[i]
		n := trackedCondition{typ: string(k.Type), status: string(k.Status), transition: k.LastTransitionTime.Time, heartbeat: k.LastHeartbeatTime.Time}
		now = append(now, n)
		if !byKubelet(n.typ) || n.transition.IsZero() || n.heartbeat.IsZero() {
			continue
		}
		was := findCondition(h.node.conditions, n.typ)
		n.late = c.late(was, &n)
		now[i].late = n.late
		c.notFuture(h, "lastHeartbeatTime", n.typ, n.heartbeat)
		if n.transition.Before(h.created.Add(-registerAhead - c.opts.tolerance())) {
			c.report(h, conditionsWithNode, "lastTransitionTime "+stamp(n.transition)+" of "+n.typ+" on a node of "+stamp(h.created), "at most 5 s before the node")
		}
		if n.status != string(corev1.ConditionUnknown) {
			if n.transition.After(n.heartbeat) && !n.late {
				c.report(h, heartbeatAfterTransition, n.typ+" with lastTransitionTime "+stamp(n.transition)+" after lastHeartbeatTime "+stamp(n.heartbeat), "it not after")
			}
		} else if k.Reason == "NodeStatusUnknown" {
			if !n.heartbeat.Before(n.transition.Add(c.opts.Slack)) && !n.late {
				c.report(h, unknownKeepsHeartbeat, n.typ+" Unknown since "+stamp(n.transition)+" with lastHeartbeatTime "+stamp(n.heartbeat), "the last post of the kubelet, before")
			}
			if unknown.IsZero() {
				unknown = n.transition
			}
			differs := !n.transition.Equal(unknown)
			if apart = apart || differs; differs && !mixed {
				c.report(h, unknownTogether, n.typ+" Unknown since "+stamp(n.transition)+", another one since "+stamp(unknown), "one time for all")
			}
		}
		if was != nil && n.heartbeat.Before(was.heartbeat) {
			c.report(h, heartbeatsForward, "lastHeartbeatTime "+stamp(n.heartbeat)+" of "+n.typ+" after "+stamp(was.heartbeat), "no earlier one")
		}
	}
	h.node.apart = apart && mixed
	known := -1
	if !unknown.IsZero() {
		known = slices.IndexFunc(now, func(n trackedCondition) bool {
			return byKubelet(n.typ) && n.status != string(corev1.ConditionUnknown)
		})
	}
	switch {
	case known < 0:
		h.node.mixed = false
	case c.opts.Skew > 0 && !h.node.mixed:
		h.node.mixed, h.node.mixedAt = true, c.at
	case c.opts.Skew == 0 || c.at-h.node.mixedAt > nextPost+c.opts.tolerance():
		c.report(h, unknownTogether, now[known].typ+" "+now[known].status+" while others are Unknown", "all of them Unknown")
	}
	c.room = now
	h.node.conditions = c.conditions(h, s.jump, h.node.conditions, now)
}
