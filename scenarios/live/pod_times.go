package live

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keepTimes returns a status whose times of what has already been posted are those of the post before: the start of the
// pod, and the start and end of each container that is the same one. The scenario's clock maps its seconds to the wall
// again when it falls behind, so that a moment may come out a second later than it was posted. Conditions keep their
// times in the pod controller.
func keepTimes(is, was corev1.PodStatus) corev1.PodStatus {
	if was.StartTime != nil && is.StartTime != nil {
		is.StartTime = was.StartTime
	}
	is.ContainerStatuses = slices.Clone(is.ContainerStatuses)
	for i := range is.ContainerStatuses {
		c := &is.ContainerStatuses[i]
		at := slices.IndexFunc(was.ContainerStatuses, func(w corev1.ContainerStatus) bool { return w.Name == c.Name })
		if at < 0 {
			continue
		}
		w := &was.ContainerStatuses[at]
		for _, before := range []*corev1.ContainerState{&w.LastTerminationState, &w.State} {
			id := before.Terminated
			switch {
			case id != nil:
				c.State, c.LastTerminationState = ended(c.State, id), ended(c.LastTerminationState, id)
			case before.Running != nil && w.ContainerID == c.ContainerID:
				c.State = began(c.State, before.Running)
			}
			if before.Running != nil && c.LastTerminationState.Terminated != nil && c.LastTerminationState.Terminated.ContainerID == w.ContainerID {
				c.LastTerminationState = began(c.LastTerminationState, before.Running)
			}
		}
	}
	return is
}

// ended returns a state with the times of the same container's end as it was posted before.
func ended(is corev1.ContainerState, before *corev1.ContainerStateTerminated) corev1.ContainerState {
	if is.Terminated == nil || is.Terminated.ContainerID != before.ContainerID {
		return is
	}
	end := *is.Terminated
	end.StartedAt, end.FinishedAt = before.StartedAt, before.FinishedAt
	return corev1.ContainerState{Terminated: &end}
}

// began returns a state with the start of the same container as it was posted before.
func began(is corev1.ContainerState, before *corev1.ContainerStateRunning) corev1.ContainerState {
	switch {
	case is.Running != nil:
		return corev1.ContainerState{Running: before}
	case is.Terminated != nil:
		end := *is.Terminated
		end.StartedAt = before.StartedAt
		return corev1.ContainerState{Terminated: &end}
	}
	return is
}

// afterCreation has nothing of a status happen before the pod was made, which a kubelet can't (k8s.io/kubernetes,
// pkg/kubelet/kubelet_pods.go, generateAPIPodStatus: it takes the moment at which it first saw the pod). Where requests
// have held the scenario up, what it does next comes out at a moment of the wall before the server's. The containers'
// statuses are the caller's own.
func afterCreation(is corev1.PodStatus, made metav1.Time) corev1.PodStatus {
	if is.StartTime != nil && is.StartTime.Before(&made) {
		is.StartTime = &made
	}
	if slices.ContainsFunc(is.Conditions, func(c corev1.PodCondition) bool { return early(c.LastTransitionTime, made) }) {
		is.Conditions = slices.Clone(is.Conditions)
		for i := range is.Conditions {
			if c := &is.Conditions[i]; early(c.LastTransitionTime, made) {
				c.LastTransitionTime = made
			}
		}
	}
	for i := range is.ContainerStatuses {
		c := &is.ContainerStatuses[i]
		c.State, c.LastTerminationState = raised(c.State, made), raised(c.LastTerminationState, made)
	}
	return is
}

// early reports whether a time that is set is before another.
func early(t, made metav1.Time) bool { return !t.IsZero() && t.Before(&made) }

// raised returns a state none of whose times is before the pod was made.
func raised(is corev1.ContainerState, made metav1.Time) corev1.ContainerState {
	switch {
	case is.Running != nil && early(is.Running.StartedAt, made):
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: made}}
	case is.Terminated != nil && (early(is.Terminated.StartedAt, made) || early(is.Terminated.FinishedAt, made)):
		end := *is.Terminated
		for _, t := range []*metav1.Time{&end.StartedAt, &end.FinishedAt} {
			if early(*t, made) {
				*t = made
			}
		}
		return corev1.ContainerState{Terminated: &end}
	}
	return is
}
