package podupdate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The sandbox phases, values of the label Keys.Phase.
const (
	SandboxPhaseIdle     = "idle"
	SandboxPhaseStarting = "starting"
	SandboxPhaseRunning  = "running"
	SandboxPhaseStopping = "stopping"
	SandboxPhaseFailed   = "failed"
)

var (
	sandboxPhases = []string{SandboxPhaseIdle, SandboxPhaseStarting, SandboxPhaseRunning, SandboxPhaseStopping, SandboxPhaseFailed}
	updatePhases  = []string{InplaceUpdatePhaseStarting, InplaceUpdatePhaseStopping}
	targetPhases  = []string{SandboxPhaseIdle, SandboxPhaseRunning, SandboxPhaseFailed}
)

// SandboxPhase is the phase of a pod, and the one rule for it: the label if it is one of the five, else failed where the
// pod itself has failed, else idle.
func (k Keys) SandboxPhase(pod *corev1.Pod) string {
	if pod == nil {
		return SandboxPhaseIdle
	}
	if label := pod.Labels[k.Filled().Phase]; slices.Contains(sandboxPhases, label) {
		return label
	}
	if pod.Status.Phase == corev1.PodFailed {
		return SandboxPhaseFailed
	}
	return SandboxPhaseIdle
}

// PhaseSince is when the pod entered a sandbox phase, in UTC, and false if it is in another; the empty phase is whichever
// it is in. The time is that of the update that led there; a pod that no update led there entered it when it was created.
// A pod without a creation time gives the zero time and true.
func (k Keys) PhaseSince(pod *corev1.Pod, phase string) (time.Time, bool, error) {
	if pod == nil {
		return time.Time{}, false, ErrNoPod
	}
	current := k.SandboxPhase(pod)
	if phase == "" {
		phase = current
	}
	if phase != current {
		return time.Time{}, false, nil
	}
	s, err := k.Read(pod)
	if err != nil {
		return time.Time{}, false, err
	}
	if s != nil && s.ledTo(phase) {
		return s.Since(), true, nil
	}
	return pod.CreationTimestamp.UTC(), true, nil
}

// ledTo says whether the update's last step is what brought a pod into the phase.
func (s *State) ledTo(phase string) bool {
	switch phase {
	case SandboxPhaseStarting, SandboxPhaseStopping, SandboxPhaseFailed:
		return s.Phase == phase || s.Phase == InplaceUpdatePhaseCompleted && s.TargetPodPhase == phase
	}
	return s.Phase == InplaceUpdatePhaseCompleted && (s.TargetPodPhase == "" || s.TargetPodPhase == phase)
}

// PhaseDuration is how long the pod has been in the phase at now: zero if that began later than now, or is unknown.
func (k Keys) PhaseDuration(pod *corev1.Pod, phase string, now time.Time) (time.Duration, bool, error) {
	since, in, err := k.PhaseSince(pod, phase)
	if err != nil || !in || since.IsZero() {
		return 0, in, err
	}
	return max(0, now.Sub(since)), true, nil
}

// checkPhase is an error unless the phase is empty or one of those wanted.
func checkPhase(field, phase string, wanted []string) error {
	if phase == "" || slices.Contains(wanted, phase) {
		return nil
	}
	return fmt.Errorf("%s: %w %q: want %s", field, ErrUnknownPhase, phase, strings.Join(wanted, ", "))
}
