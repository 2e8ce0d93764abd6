package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// PodEventFilterFunc says whether a pod is the controller's: true takes it in. It is asked at every event of a pod and
// again before each act for it, from many goroutines at once, so its answer may change while the controller runs: a
// virtual node that falls silent is one whose pods are filtered out, and PodController.Relook catches up when it is
// back. The removal of a pod that was taken in is followed whatever the filter says by then.
type PodEventFilterFunc func(context.Context, *corev1.Pod) bool

// FilterPodsForNodeName takes in the pods that are bound to the node of that name.
func FilterPodsForNodeName(name string) PodEventFilterFunc {
	return func(_ context.Context, pod *corev1.Pod) bool { return pod.Spec.NodeName == name }
}

// PodFilters takes in a pod that any of the filters takes in; without filters, none.
func PodFilters(filters ...PodEventFilterFunc) PodEventFilterFunc {
	return func(ctx context.Context, pod *corev1.Pod) bool {
		for _, filter := range filters {
			if filter(ctx, pod) {
				return true
			}
		}
		return false
	}
}

// PodInformerFilter makes an informer list and watch only the pods that are bound to one node (the field spec.nodeName,
// which the API server indexes): give it to informers.WithTweakListOptions, or as the Tweak of informer.Options. Many nodes
// of one process share one informer without it and give [PodControllerConfig] a filter instead. The other informers of a
// factory would be given the selector too, so the factory is for pods alone.
func PodInformerFilter(node string) func(*metav1.ListOptions) {
	selector := fields.OneTermEqualSelector("spec.nodeName", node).String()
	return func(options *metav1.ListOptions) { options.FieldSelector = selector }
}
