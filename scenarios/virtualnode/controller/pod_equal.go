package controller

import (
	"hash/maphash"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podsEqual says whether two pods agree in everything that may change of a living pod: labels, annotations, containers
// of every kind (images, resources by the resize subresource, ephemeral ones by theirs), resources of the pod,
// activeDeadlineSeconds and tolerations (k8s.io/kubernetes, pkg/apis/core/validation/validation.go, ValidatePodUpdate,
// ValidatePodResize, ValidatePodEphemeralContainersUpdate). The order of environment variables doesn't matter.
func podsEqual(a, b *corev1.Pod) bool {
	equal := apiequality.Semantic.DeepEqual
	return equal(a.Labels, b.Labels) && equal(a.Annotations, b.Annotations) &&
		containersEqual(a.Spec.Containers, b.Spec.Containers) &&
		containersEqual(a.Spec.InitContainers, b.Spec.InitContainers) &&
		equal(a.Spec.EphemeralContainers, b.Spec.EphemeralContainers) &&
		equal(a.Spec.Resources, b.Spec.Resources) &&
		equal(a.Spec.ActiveDeadlineSeconds, b.Spec.ActiveDeadlineSeconds) &&
		equal(a.Spec.Tolerations, b.Spec.Tolerations)
}

// containersEqual compares containers whatever the order of their environment variables.
func containersEqual(a, b []corev1.Container) bool {
	return apiequality.Semantic.DeepEqual(a, b) || apiequality.Semantic.DeepEqual(environmentSorted(a), environmentSorted(b))
}

// environmentSorted copies containers with their environment sorted by name; of one name, the order stays, since the
// last one counts.
func environmentSorted(containers []corev1.Container) []corev1.Container {
	sorted := slices.Clone(containers)
	for i := range sorted {
		sorted[i].Env = slices.Clone(sorted[i].Env)
		slices.SortStableFunc(sorted[i].Env, func(a, b corev1.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	}
	return sorted
}

// podShouldEnqueue says whether the change from one state of a pod in the API to the next is the provider's concern: what
// podsEqual compares, or the pod's deletion.
func podShouldEnqueue(before, after *corev1.Pod) bool {
	if before == nil || after == nil {
		return before != after
	}
	return !podsEqual(before, after) ||
		!apiequality.Semantic.DeepEqual(before.DeletionTimestamp, after.DeletionTimestamp) ||
		!apiequality.Semantic.DeepEqual(before.DeletionGracePeriodSeconds, after.DeletionGracePeriodSeconds)
}

// prints makes the fingerprints of this process.
var prints = maphash.MakeSeed()

// podFingerprint is a fingerprint of what a provider is told of a pod: its specification, labels, annotations and deletion, not
// its status or resourceVersion. It is never 0. Remembering it costs eight bytes where the pod itself costs thousands.
func podFingerprint(pod *corev1.Pod) uint64 {
	reported := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Labels: pod.Labels, Annotations: pod.Annotations, DeletionTimestamp: pod.DeletionTimestamp,
			DeletionGracePeriodSeconds: pod.DeletionGracePeriodSeconds,
		},
		Spec: pod.Spec,
	}
	return fingerprint(&reported)
}

// statusFingerprint is a fingerprint of a status; never 0.
func statusFingerprint(status *corev1.PodStatus) uint64 { return fingerprint(status) }

// fingerprint hashes the object's protobuf form, whose maps are sorted.
func fingerprint(object interface{ Marshal() ([]byte, error) }) uint64 {
	form, err := object.Marshal()
	if err != nil {
		return 1 // nothing that an API server has sent fails to be encoded
	}
	return max(maphash.Bytes(prints, form), 2)
}

// anyContainerRuns says whether a container runs by this status: one that neither waits nor has terminated. Without
// container statuses, none does.
func anyContainerRuns(status *corev1.PodStatus) bool {
	for _, list := range [][]corev1.ContainerStatus{
		status.ContainerStatuses, status.InitContainerStatuses, status.EphemeralContainerStatuses,
	} {
		for i := range list {
			if state := &list[i].State; state.Terminated == nil && state.Waiting == nil {
				return true
			}
		}
	}
	return false
}

// terminal says whether a pod of this phase has ended for good.
func terminal(phase corev1.PodPhase) bool {
	return phase == corev1.PodFailed || phase == corev1.PodSucceeded
}
