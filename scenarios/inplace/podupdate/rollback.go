package podupdate

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
)

// Rollback is the pod with the images that it had before its last update, on the way to the sandbox phase that it had
// then. The update may be in flight, have failed or be complete. A rollback that is in flight or complete stays as it is:
// changed is false. It is an ErrNothingToRollBack where no images before are recorded. With an error, next is nil.
//
// An image that somebody has changed since is left alone.
func (k Keys) Rollback(pod *corev1.Pod, now time.Time) (next *corev1.Pod, changed bool, err error) {
	return k.RollbackFor(pod, Progress{}, "", now)
}

// RollbackFor is Rollback with what is said of it on the pod, why.Reason and why.Message, and with the sandbox phase at
// its end; the empty one is that before the update.
func (k Keys) RollbackFor(pod *corev1.Pod, why Progress, phase string, now time.Time) (next *corev1.Pod, changed bool, err error) {
	k = k.Filled()
	if pod == nil {
		return nil, false, ErrNoPod
	}
	if err := checkPhase("phase", phase, targetPhases); err != nil {
		return nil, false, fmt.Errorf("roll back pod %s: %w", name(pod), err)
	}
	before, err := k.Read(pod)
	switch {
	case err != nil:
		return nil, false, err
	case before != nil && len(before.RolledBack) > 0:
		return pod.DeepCopy(), false, nil
	case before == nil:
		return nil, false, fmt.Errorf("roll back pod %s: %w: no update is recorded on it", name(pod), ErrNothingToRollBack)
	case len(before.FromImages) == 0:
		return nil, false, fmt.Errorf("roll back pod %s: %w: the images before its update aren't recorded", name(pod), ErrNothingToRollBack)
	}
	next = pod.DeepCopy()
	s := &State{FromPodPhase: k.SandboxPhase(pod), RolledBack: before.TargetImages, Reason: why.Reason, Message: why.Message}
	s.TargetImages, s.LastContainerStatuses = map[string]string{}, map[string]InplaceUpdateContainerStatus{}
	if before.Phase != InplaceUpdatePhaseCompleted {
		s.carry(pod, before)
	}
	for name, image := range before.FromImages {
		c := container(pod, name)
		if c == nil || !imageresolver.Same(c.Image, before.TargetImages[name]) {
			continue
		}
		s.TargetImages[name] = image
		s.replace(pod, before, name, image)
	}
	if phase == "" {
		phase = returnTo(before.FromPodPhase)
	}
	s.TargetPodPhase = phase
	flight := InplaceUpdatePhaseStarting
	if phase != SandboxPhaseRunning {
		flight = InplaceUpdatePhaseStopping
	}
	if err := k.launch(next, s, flight, now); err != nil {
		return nil, false, err
	}
	return next, true, nil
}

// returnTo is where a rollback leads: a pod that was between two phases goes to the one where it can be used again.
func returnTo(phase string) string {
	switch phase {
	case SandboxPhaseRunning, SandboxPhaseStarting:
		return SandboxPhaseRunning
	}
	return SandboxPhaseIdle
}

// Fail is the pod with its update given up where it stands: phase and label are failed, the reason is recorded, the images
// stay. Rollback leads back from there, and the same update triggered again makes another attempt. A pod without an
// update in flight stays as it is. With an error, next is nil.
func (k Keys) Fail(pod *corev1.Pod, why Progress, now time.Time) (next *corev1.Pod, changed bool, err error) {
	k = k.Filled()
	next, s, err := k.inFlight(pod)
	if err != nil || s == nil {
		return next, false, err
	}
	s.Phase, s.Reason, s.Message = InplaceUpdatePhaseFailed, why.Reason, why.Message
	s.stamp(now)
	label(next, k.Phase, SandboxPhaseFailed)
	return next, true, k.write(next, s)
}
