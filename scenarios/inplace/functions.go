package inplace

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentsv1alpha1 "github.com/nodesim/nodesim/scenarios/inplace/agents/v1alpha1"
	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
)

// wall is the clock of the functions that take no time.
var wall clock.Clock = clock.RealClock{}

// GetInplaceUpdateState is Keys.Read by the default Keys.
func GetInplaceUpdateState(pod *corev1.Pod) (*InplaceUpdateState, error) {
	s, err := Keys{}.Read(pod)
	if s == nil || err != nil {
		return nil, err
	}
	return &s.InplaceUpdateState, nil
}

// GetPodInPlaceUpdateState is GetInplaceUpdateState.
func GetPodInPlaceUpdateState(pod *corev1.Pod) (*InplaceUpdateState, error) {
	return GetInplaceUpdateState(pod)
}

// GetSandboxPhase is Keys.SandboxPhase by the default Keys.
func GetSandboxPhase(pod *corev1.Pod) string { return Keys{}.SandboxPhase(pod) }

// GetPodPhaseSince is Keys.PhaseSince by the default Keys.
func GetPodPhaseSince(pod *corev1.Pod, phase string) (time.Time, bool, error) {
	return Keys{}.PhaseSince(pod, phase)
}

// GetPodPhaseDuration is Keys.PhaseDuration by the default Keys. The zero now is that of the wall clock.
func GetPodPhaseDuration(pod *corev1.Pod, phase string, now time.Time) (time.Duration, bool, error) {
	if now.IsZero() {
		now = wall.Now()
	}
	return Keys{}.PhaseDuration(pod, phase, now)
}

// HasUnexpectedRestart says whether Keys.UnexpectedRestart finds a container, by the default Keys.
func HasUnexpectedRestart(pod *corev1.Pod) bool {
	_, is := Keys{}.UnexpectedRestart(pod)
	return is
}

// IsInplaceUpdateCompleted is Keys.Completion by the default Keys, without the reason: a pod without an update is
// complete, one with a broken state is not. A container whose status has no state at all, as only tests write it, is not
// asked to be running and ready. The pool is not read and may be nil.
func IsInplaceUpdateCompleted(ctx context.Context, sandboxPool *agentsv1alpha1.SandboxPool, pod *corev1.Pod, resolver imageresolver.DigestResolver) bool {
	_ = sandboxPool
	complete, _, err := Keys{}.Completion(ctx, pod, resolver)
	return complete && err == nil
}

// MarkUpdateCompleted completes the update of a pod if IsInplaceUpdateCompleted says so of the live one, and returns
// the pod as it then is. Where there is nothing to complete, because it is completed, not done yet, or in another
// sandbox phase than the given pod, that is the live pod as it was read; it is nil if no update is recorded, and beside
// an error. Updater.Mark tells these apart. The pool is not read and may be nil.
func MarkUpdateCompleted(ctx context.Context, c client.Client, sandboxPool *agentsv1alpha1.SandboxPool, pod *corev1.Pod, resolver imageresolver.DigestResolver) (*corev1.Pod, error) {
	_ = sandboxPool
	u := Updater{Client: c, Clock: wall}
	m, err := u.mark(ctx, pod, func(live *corev1.Pod) (Progress, error) {
		return u.Keys.completion(ctx, live, resolver)
	})
	if err != nil || m.Progress.State == None {
		return nil, err
	}
	return m.Pod, nil
}

// TriggerUpdateWithOptions is Updater.Trigger by the default Keys and the wall clock.
func TriggerUpdateWithOptions(ctx context.Context, c client.Client, pod *corev1.Pod, opts UpdateOptions) (*corev1.Pod, error) {
	return Updater{Client: c, Clock: wall}.Trigger(ctx, pod, opts)
}
