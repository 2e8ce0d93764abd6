package inplace

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentsv1alpha1 "github.com/nodesim/nodesim/scenarios/inplace/agents/v1alpha1"
	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// wall is the clock of the functions that take no time.
var wall clock.Clock = clock.RealClock{}

// GetInplaceUpdateState is [podupdate.Keys].Parse by the default Keys: a phase that isn't known is returned as it stands.
func GetInplaceUpdateState(pod *corev1.Pod) (*InplaceUpdateState, error) {
	s, err := podupdate.Keys{}.Parse(pod)
	if s == nil || err != nil {
		return nil, err
	}
	return &s.InplaceUpdateState, nil
}

// GetPodInPlaceUpdateState is GetInplaceUpdateState.
func GetPodInPlaceUpdateState(pod *corev1.Pod) (*InplaceUpdateState, error) {
	return GetInplaceUpdateState(pod)
}

// GetSandboxPhase is [podupdate.Keys].SandboxPhase by the default Keys.
func GetSandboxPhase(pod *corev1.Pod) string { return podupdate.Keys{}.SandboxPhase(pod) }

// GetPodPhaseSince is [podupdate.Keys].PhaseSince by the default Keys.
func GetPodPhaseSince(pod *corev1.Pod, phase string) (time.Time, bool, error) {
	return podupdate.Keys{}.PhaseSince(pod, phase)
}

// GetPodPhaseDuration is [podupdate.Keys].PhaseDuration by the default Keys. The zero now is that of the wall clock.
func GetPodPhaseDuration(pod *corev1.Pod, phase string, now time.Time) (time.Duration, bool, error) {
	if now.IsZero() {
		now = wall.Now()
	}
	return podupdate.Keys{}.PhaseDuration(pod, phase, now)
}

// HasUnexpectedRestart says whether [podupdate.Keys].UnexpectedRestart finds a container, by the default Keys.
func HasUnexpectedRestart(pod *corev1.Pod) bool {
	_, is := podupdate.Keys{}.UnexpectedRestart(pod)
	return is
}

// IsInplaceUpdateCompleted is [podupdate.Keys].Completion by the default Keys, without the reason: a pod without an update is
// complete, one with a broken state is not. A container whose status has no state at all, as only tests write it, is not
// asked to be running and ready. The pool is not read and may be nil.
func IsInplaceUpdateCompleted(ctx context.Context, sandboxPool *agentsv1alpha1.SandboxPool, pod *corev1.Pod, resolver imageresolver.DigestResolver) bool {
	_ = sandboxPool
	complete, _, err := podupdate.Keys{}.Completion(ctx, pod, resolver)
	return complete && err == nil
}

// MarkUpdateCompleted completes the update of a pod if IsInplaceUpdateCompleted says so of the live one, and returns
// the pod as it then is. Where there is nothing to complete, because it is completed, not done yet, or in another
// sandbox phase than the given pod, that is the live pod as it was read; it is nil if no update is recorded, and beside
// an error. [podupdate.Updater].Mark tells these apart. The pool is not read and may be nil.
func MarkUpdateCompleted(ctx context.Context, c client.Client, sandboxPool *agentsv1alpha1.SandboxPool, pod *corev1.Pod, resolver imageresolver.DigestResolver) (*corev1.Pod, error) {
	_ = sandboxPool
	m, err := podupdate.Updater{Pods: Pods(c, nil), Clock: wall}.MarkResolved(ctx, pod, resolver)
	if err != nil || m.Progress.State == podupdate.None {
		return nil, err
	}
	return m.Pod, nil
}

// TriggerUpdateWithOptions is [podupdate.Updater].Trigger by the default Keys and the wall clock.
func TriggerUpdateWithOptions(ctx context.Context, c client.Client, pod *corev1.Pod, opts UpdateOptions) (*corev1.Pod, error) {
	return podupdate.Updater{Pods: Pods(c, nil), Clock: wall}.Trigger(ctx, pod, opts)
}

// TriggerResize changes the resources of a living pod through its subresource resize (Kubernetes 1.33 and later): it is
// [podupdate.Updater].Resize by the default Keys and the wall clock.
func TriggerResize(ctx context.Context, c client.Client, pod *corev1.Pod, resources podupdate.Resources) (*corev1.Pod, error) {
	return podupdate.Updater{Pods: Pods(c, nil), Clock: wall}.Resize(ctx, pod, resources)
}
