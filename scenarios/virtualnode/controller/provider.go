package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
)

// PodLifecycleHandler runs the pods: it is the part of a kubelet that a [PodController] asks to start, change and end
// them. A provider that learns of changes by itself also implements [PodNotifier]; otherwise it is polled.
//
// Methods are called from many goroutines at once, also for one pod: DeletePod may come while CreatePod of the same
// pod is still under way in the provider, though never two of CreatePod, UpdatePod and the DeletePod that belongs to
// them for the same namespace and name. They should return soon, since a worker waits for each, and must return when
// the context ends. A pod that is handed in may be kept, since it is a copy; a pod that is returned is only read, so
// a provider that still changes its own returns a copy.
//
// Errors are told apart by their methods: see [IsNotFound] and [IsInvalidInput].
type PodLifecycleHandler interface {
	// CreatePod starts a pod. Its environment is resolved (see [PodControllerConfig]). After an error it is called
	// again, with back-off, for as long as the pod is wanted; one that is never restarted has Failed then, and isn't.
	CreatePod(ctx context.Context, pod *corev1.Pod) error

	// UpdatePod is called when what may change of a living pod differs from what GetPod returns: labels, annotations,
	// container images and resources, ephemeral containers, tolerations, activeDeadlineSeconds.
	UpdatePod(ctx context.Context, pod *corev1.Pod) error

	// DeletePod begins to end a pod; the pod's DeletionGracePeriodSeconds, where set, says how long that may take. When
	// its containers have ended, the provider reports a terminal status, and the object leaves the API then. It may be
	// called several times for one pod. A not-found error means that nothing of the pod runs any more.
	DeletePod(ctx context.Context, pod *corev1.Pod) error

	// GetPod returns the pod of that name as it was given to CreatePod or UpdatePod last, with its present status; nil
	// or a not-found error if there is none. Where a provider still ends an earlier pod of the name (another UID), it
	// returns the newest.
	GetPod(ctx context.Context, namespace, name string) (*corev1.Pod, error)

	// GetPodStatus returns the present status of the pod of that name; nil or a not-found error if there is none.
	GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error)

	// GetPods returns every pod that runs here. What the API no longer knows of them is deleted.
	GetPods(context.Context) ([]*corev1.Pod, error)
}

// PodNotifier is implemented by a provider that reports statuses by itself.
type PodNotifier interface {
	// NotifyPods registers the function that the provider calls whenever a pod's status has changed; it is called once,
	// before any other method, and must not block. A provider that runs pods already, as after a restart of the
	// controller, reports each of them then. The function copies what it needs and never blocks; it may be called
	// from any goroutine, and does nothing once the controller has ended. Of the pod it reads namespace, name, UID,
	// status, and the deletion fields: a deletionTimestamp on a pod that isn't being deleted asks for its deletion.
	// Statuses of a pod that is not in the API are dropped.
	NotifyPods(context.Context, func(*corev1.Pod))
}

// PodUIDGetter may be implemented by a provider where two pods of one namespace and name can run at once: an earlier
// one that is ending and its successor, perhaps on another virtual node. The controller then asks for exactly the pod
// that it means; without it, it asks by name and compares the UID of the answer.
type PodUIDGetter interface {
	// GetPodByUID returns the pod of that UID; nil or a not-found error if there is none.
	GetPodByUID(ctx context.Context, namespace, name string, uid types.UID) (*corev1.Pod, error)
}

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
