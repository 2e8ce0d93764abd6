package convert

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// noNode is what a node was before it came.
var noNode kube.Node

func (o *Observed) node(ev *timeline.Event, old, n *kube.Node) metav1.Object {
	to, fresh := o.nodes.of(ev, &n.Beside)
	if fresh {
		labels, annotations := to.Labels, to.Annotations
		clear(labels)
		clear(annotations)
		*to = corev1.Node{
			ObjectMeta: begin(ev), Spec: corev1.NodeSpec{Taints: to.Spec.Taints[:0]}, Status: corev1.NodeStatus{Conditions: to.Status.Conditions[:0]},
		}
		to.Labels, to.Annotations = labels, annotations
		old = &noNode
	}
	to.ResourceVersion = ev.RV
	if old == nil {
		return to
	}
	o.ownMeta(&to.ObjectMeta, &old.Meta, &n.Meta)
	to.Spec.ProviderID, to.Spec.PodCIDR, to.Spec.Unschedulable = n.ProviderID, n.PodCIDR, n.Unschedulable
	if !kube.Identical(old.Taints, n.Taints) {
		to.Spec.Taints = to.Spec.Taints[:0]
		for i := range n.Taints {
			t := &n.Taints[i]
			to.Spec.Taints = append(to.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect), TimeAdded: moment(t.Added)})
		}
	}
	to.Status.NodeInfo.KubeletVersion, to.Status.NodeInfo.OSImage = n.Info.KubeletVersion, n.Info.OSImage
	if !kube.Identical(old.Conditions, n.Conditions) {
		to.Status.Conditions = to.Status.Conditions[:0]
		for i := range n.Conditions {
			c := &n.Conditions[i]
			to.Status.Conditions = append(to.Status.Conditions, corev1.NodeCondition{
				Type: corev1.NodeConditionType(c.Type), Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
				LastHeartbeatTime: metav1.Time{Time: second(c.Heartbeat)}, LastTransitionTime: metav1.Time{Time: second(c.Transition)},
			})
		}
	}
	return to
}
