package controller

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// desired is the desired node: as it was given, or as the provider said last. The node is never changed, only
// replaced.
type desired struct {
	node       *corev1.Node
	generation int // rises with each notification
}

// given copies a node without what only a server gives.
func given(node *corev1.Node) *corev1.Node {
	node = node.DeepCopy()
	node.ResourceVersion, node.UID, node.Generation = "", "", 0
	node.SetSelfLink("")
	node.CreationTimestamp, node.DeletionTimestamp, node.DeletionGracePeriodSeconds = metav1.Time{}, nil, nil
	node.ManagedFields = nil
	stripApplied(node.Annotations)
	return node
}

// setDesired is the provider's callback.
func (n *NodeController) setDesired(ctx context.Context) func(*corev1.Node) {
	return func(node *corev1.Node) {
		if node == nil || ctx.Err() != nil {
			return
		}
		labels, annotations := maps.Clone(node.Labels), maps.Clone(node.Annotations)
		status, taints := node.Status.DeepCopy(), slices.Clone(node.Spec.Taints)
		stripApplied(annotations)
		n.mu.Lock()
		next := *n.wanted.node
		next.Labels, next.Annotations, next.Status = labels, annotations, *status
		if n.keepSpec {
			next.Spec.Taints = taints
		}
		n.wanted = desired{node: &next, generation: n.wanted.generation + 1}
		n.mu.Unlock()
		n.status.trigger()
	}
}

func (n *NodeController) desired() desired {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wanted
}

// readiness is the controller's own part of a node's conditions.
type readiness struct {
	heartbeat metav1.Time
	ill       error     // why the node counts as not ready although its provider says otherwise; nil if it doesn't
	flip      time.Time // when that began, or ended; zero if it never did
}

// reasonIll is the reason of a kubelet whose runtime doesn't answer (k8s.io/kubernetes,
// pkg/kubelet/nodestatus/setters.go, ReadyCondition).
const reasonIll = "KubeletNotReady"

// composed is the desired node with the readiness in its conditions. It shares all else with it. No condition changes after its
// heartbeat (k8s.io/kubernetes, pkg/kubelet/nodestatus/setters.go: both are of one moment).
func composed(desired *corev1.Node, p readiness) *corev1.Node {
	node := *desired
	conditions := slices.Clone(desired.Status.Conditions)
	ready := slices.IndexFunc(conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if p.ill != nil && ready < 0 {
		ready = len(conditions)
		conditions = append(conditions, corev1.NodeCondition{Type: corev1.NodeReady})
	}
	if ready >= 0 && !p.flip.IsZero() {
		c := &conditions[ready]
		if p.ill != nil && c.Status != corev1.ConditionFalse {
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, reasonIll, p.ill.Error()
		}
		if flip := metav1.NewTime(p.flip); c.Reason == reasonIll && p.ill != nil || c.Status == corev1.ConditionTrue && c.LastTransitionTime.Before(&flip) {
			c.LastTransitionTime = flip
		}
	}
	for i := range conditions {
		conditions[i].LastHeartbeatTime = p.heartbeat
		followTransition(&conditions[i]) // its provider may have reported the change after the heartbeat began
	}
	node.Status.Conditions = conditions
	return &node
}

// following returns a composed node whose conditions change no earlier than those of the live one did: where the provider
// reported a change before another writer made one, such as the node lifecycle controller in an outage, the change is
// made now, as a kubelet's is (k8s.io/kubernetes, pkg/kubelet/nodestatus/setters.go, MemoryPressureCondition).
func following(node, live *corev1.Node, p readiness) *corev1.Node {
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		at := slices.IndexFunc(live.Status.Conditions, func(is corev1.NodeCondition) bool { return is.Type == c.Type })
		if at < 0 || !c.LastTransitionTime.Before(&live.Status.Conditions[at].LastTransitionTime) {
			continue
		}
		was := &live.Status.Conditions[at]
		if c.LastTransitionTime = was.LastTransitionTime; was.Status != c.Status && c.LastTransitionTime.Before(&p.heartbeat) {
			c.LastTransitionTime = p.heartbeat
		}
		followTransition(c) // the other writer may have been later than this heartbeat began
	}
	return node
}

// followTransition has a condition's heartbeat not be before its change.
func followTransition(c *corev1.NodeCondition) {
	if c.LastHeartbeatTime.Before(&c.LastTransitionTime) {
		c.LastHeartbeatTime = c.LastTransitionTime
	}
}
