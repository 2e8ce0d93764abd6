package pool

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// Kind is the kind of an Action.
type Kind string

// What an Action can do.
const (
	Mark    Kind = "mark"    // complete a start or a stop
	Release Kind = "release" // begin to turn a sandbox into an idle pod
	Fail    Kind = "fail"    // give up a stop that doesn't come to its end
	Broken  Kind = "broken"  // nothing: the pod's state can't be read
)

// Action is one thing to do to one pod.
type Action struct {
	Kind           Kind
	Namespace, Pod string
	UID            types.UID
	// Reason says why, in one line.
	Reason string
	// End is the message about a released sandbox.
	End Stopped
}

// String is the action in one line: "release shop/box-1: Failed: OOMKilled".
func (a Action) String() string {
	text := string(a.Kind) + " " + a.Namespace + "/" + a.Pod
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	return text
}

// Limits are how long things may take; 0 is as long as it takes.
type Limits struct {
	// Startup is from the claim until the sandbox runs; a longer start is released.
	Startup time.Duration
	// Stop is from the release until the pod is idle; a longer stop is failed.
	Stop time.Duration
}

// Plan says what is to be done about the pods of a pool at now, in the order of their names. Pods that are being
// deleted are passed over.
func Plan(keys podupdate.Keys, digests podupdate.Digests, limits Limits, pods []corev1.Pod, now time.Time) []Action {
	var actions []Action
	for i := range pods {
		if a, ok := decide(keys, digests, limits, &pods[i], now); ok {
			a.Namespace, a.Pod, a.UID = pods[i].Namespace, pods[i].Name, pods[i].UID
			actions = append(actions, a)
		}
	}
	slices.SortStableFunc(actions, func(a, b Action) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.UID, b.UID))
	})
	return actions
}

func decide(keys podupdate.Keys, digests podupdate.Digests, limits Limits, pod *corev1.Pod, now time.Time) (Action, bool) {
	if pod.DeletionTimestamp != nil {
		return Action{}, false
	}
	phase := keys.SandboxPhase(pod)
	limit := limits.Startup
	if phase == podupdate.SandboxPhaseStopping {
		limit = limits.Stop
	}
	p, err := keys.Progress(pod, digests, limit, now)
	if err != nil {
		return Action{Kind: Broken, Reason: err.Error()}, true
	}
	switch phase {
	case podupdate.SandboxPhaseStarting, podupdate.SandboxPhaseStopping:
		if p.State == podupdate.None { // its annotation was removed
			took, _, err := keys.PhaseDuration(pod, phase, now)
			if err != nil || limit <= 0 || took <= limit {
				return Action{}, false
			}
			end := Stopped{Reason: StopStartupTimeout, FailureMessage: "the pod has no record of its update", TerminatedAt: now}
			if was, ok := ReadStopped(keys, pod); ok && phase == podupdate.SandboxPhaseStopping {
				end = was
			}
			return Action{Kind: Release, Reason: end.Reason, End: end}, true
		}
		return bring(phase, p, now)
	case podupdate.SandboxPhaseRunning:
		if container, is := keys.UnexpectedRestart(pod); is {
			end := failure(keys, pod, container, now)
			return Action{Kind: Release, Reason: end.Reason + ": " + end.FailureReason, End: end}, true
		}
	}
	return Action{}, false
}

// bring takes a pod on that is between two phases.
func bring(phase string, p podupdate.Progress, now time.Time) (Action, bool) {
	switch {
	case p.State == podupdate.Done:
		return Action{Kind: Mark}, true
	case p.State != podupdate.Failed:
		return Action{}, false
	case phase == podupdate.SandboxPhaseStopping:
		return Action{Kind: Fail, Reason: p.Reason, End: Stopped{FailureReason: p.Reason, FailureMessage: p.Message}}, true
	case p.Reason == podupdate.ReasonDeadlineExceeded:
		end := Stopped{Reason: StopStartupTimeout, FailureMessage: p.Message, TerminatedAt: now}
		return Action{Kind: Release, Reason: end.Reason, End: end}, true
	}
	end := Stopped{Reason: StopFailed, FailureReason: p.Reason, FailureMessage: p.Message, TerminatedAt: now}
	return Action{Kind: Release, Reason: end.Reason + ": " + end.FailureReason, End: end}, true
}
