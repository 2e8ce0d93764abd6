package podupdate

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Complete is the pod as a mark writes it: the update is completed, and the label is its target phase. It doesn't look
// whether the containers were replaced, which is Progress's. A pod without an update in flight stays as it is. With an
// error, next is nil.
func (k Keys) Complete(pod *corev1.Pod, now time.Time) (next *corev1.Pod, changed bool, err error) {
	k = k.Filled()
	next, s, err := k.inFlight(pod)
	if err != nil || s == nil {
		return next, false, err
	}
	if err := k.settle(next, s, s.TargetPodPhase, now); err != nil {
		return nil, false, err
	}
	return next, true, nil
}

// settle ends an update in a phase; the empty one leaves the label alone. k is Filled.
func (k Keys) settle(pod *corev1.Pod, s *State, phase string, now time.Time) error {
	s.Phase, s.TargetPodPhase, s.LastContainerStatuses = InplaceUpdatePhaseCompleted, phase, nil
	s.StableContainerStatuses, s.Containers = nil, nil
	if cmp.Or(phase, SandboxPhaseRunning) == SandboxPhaseRunning {
		s.StableContainerStatuses = snapshot(pod, s.TargetImages)
	}
	s.stamp(now)
	k.enter(pod, cmp.Or(phase, pod.Labels[k.Phase]), now)
	return k.write(pod, s)
}

// enter gives the pod a phase and what belongs to it. An idle pod loses its sandbox's identity in the same write, so that
// no later cleanup can erase that of the next claim. k is Filled.
func (k Keys) enter(pod *corev1.Pod, phase string, now time.Time) {
	if phase == "" {
		return
	}
	label(pod, k.Phase, phase)
	switch phase {
	case SandboxPhaseRunning:
		at := now.UTC().Format(time.RFC3339)
		annotate(pod, k.StartedAt, at)
		annotate(pod, k.LastActive, at)
	case SandboxPhaseIdle:
		delete(pod.Labels, k.SandboxID)
		for _, key := range k.identity() {
			delete(pod.Annotations, key)
		}
	}
}

// inFlight is a copy of the pod, and its update; s is nil where none is in flight. With an error, both are.
func (k Keys) inFlight(pod *corev1.Pod) (next *corev1.Pod, s *State, err error) {
	if pod == nil {
		return nil, nil, ErrNoPod
	}
	if s, err = k.Read(pod); err != nil {
		return nil, nil, err
	}
	if !s.InFlight() {
		s = nil
	}
	return pod.DeepCopy(), s, nil
}
