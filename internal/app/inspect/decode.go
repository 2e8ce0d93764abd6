package inspect

import (
	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

type kind uint8

const (
	kindOther kind = iota
	kindNode
	kindPod
	kindBudget
	kindEvent
)

// decoder makes of an object's JSON what the Checker looks at.
//
// The objects are its own and good until the next call: a Checker keeps none,
// but may keep labels and selectors, which are never written again.
type decoder struct {
	kubejson.Decoder

	node   corev1.Node
	pod    corev1.Pod
	budget policyv1.PodDisruptionBudget
	event  corev1.Event
	other  metav1.PartialObjectMetadata
}

func (d *decoder) object(k kind, ev *timeline.Event) metav1.Object {
	var o metav1.Object
	switch k {
	case kindNode:
		d.node = corev1.Node{Spec: corev1.NodeSpec{Taints: d.node.Spec.Taints[:0]}, Status: corev1.NodeStatus{Conditions: d.node.Status.Conditions[:0]}}
		d.Node(&d.node, ev.Object)
		o = &d.node
	case kindPod:
		d.pod = corev1.Pod{Status: corev1.PodStatus{Conditions: d.pod.Status.Conditions[:0], ContainerStatuses: d.pod.Status.ContainerStatuses[:0]}}
		d.Pod(&d.pod, ev.Object)
		o = &d.pod
	case kindBudget:
		d.budget = policyv1.PodDisruptionBudget{}
		d.Budget(&d.budget, ev.Object)
		o = &d.budget
	case kindEvent:
		d.event = corev1.Event{}
		d.Event(&d.event, ev.Object)
		o = &d.event
	default:
		d.other = metav1.PartialObjectMetadata{}
		d.Meta(&d.other.ObjectMeta, ev.Object)
		o = &d.other
	}
	o.SetName(ev.Name)
	o.SetNamespace(ev.Namespace)
	o.SetUID(types.UID(ev.UID))
	o.SetResourceVersion(ev.RV)
	return o
}
