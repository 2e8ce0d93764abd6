package podupdate

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ResizeState is the annotation Keys.Resize: a change of resources that was triggered. The subresource resize
// takes no annotations (k8s.io/kubernetes, pkg/registry/core/pod, dropNonResizeUpdates), so the state is written first,
// as an intention, and the resources after it; who finds the intention alone triggers the same resize again.
type ResizeState struct {
	// Phase is starting, completed or failed, as of an InplaceUpdateState.
	Phase string `json:"phase"`
	// TargetResources are the wanted ones by container.
	TargetResources Resources `json:"targetResources,omitempty"`
	// FromResources are what the containers had before. A rollback has none.
	FromResources Resources `json:"fromResources,omitempty"`
	// UpdateTime is when the phase was entered.
	UpdateTime metav1.MicroTime `json:"updateTime"`
	// RolledBack are the target resources that were given up, of a rollback.
	RolledBack Resources `json:"rolledBack,omitempty"`
	// Reason and Message say why it was rolled back or has failed.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// InFlight says whether resources are being changed.
func (s *ResizeState) InFlight() bool { return s != nil && s.Phase == InplaceUpdatePhaseStarting }

// ReadResize is the resize that is recorded on a pod: nil if there is none, ErrBrokenState if it can't be read.
func (k Keys) ReadResize(pod *corev1.Pod) (*ResizeState, error) {
	k = k.Filled()
	if pod == nil || pod.Annotations[k.Resize] == "" {
		return nil, nil
	}
	var s ResizeState
	if err := json.Unmarshal([]byte(pod.Annotations[k.Resize]), &s); err != nil {
		return nil, fmt.Errorf("pod %s: annotation %s: %w: %w: remove the annotation", name(pod), k.Resize, ErrBrokenState, err)
	}
	switch s.Phase {
	case InplaceUpdatePhaseStarting, InplaceUpdatePhaseCompleted, InplaceUpdatePhaseFailed:
		return &s, nil
	}
	return nil, fmt.Errorf("pod %s: annotation %s: %w: phase is %q: want starting, completed or failed; remove the annotation",
		name(pod), k.Resize, ErrBrokenState, s.Phase)
}

// BeginResize is the pod with the intention to resize it: only its annotation changes. Where the spec has these resources
// and none are on their way, nothing does. It finds what ApplyResize finds. With an error, next is nil.
func (k Keys) BeginResize(pod *corev1.Pod, resources Resources, now time.Time) (next *corev1.Pod, changed bool, err error) {
	_, differs, err := ApplyResize(pod, resources)
	if err != nil {
		return nil, false, err
	}
	before, err := k.ReadResize(pod)
	if err != nil {
		return nil, false, err
	}
	next = pod.DeepCopy()
	settled := before == nil || before.Phase == InplaceUpdatePhaseCompleted
	if before.InFlight() && before.TargetResources.Equal(resources) || !differs && settled {
		return next, false, nil
	}
	s := &ResizeState{Phase: InplaceUpdatePhaseStarting, TargetResources: Resources{}, FromResources: Resources{}}
	if !settled {
		for name, r := range before.FromResources {
			s.FromResources[name] = r
		}
	}
	for name, r := range resources {
		s.TargetResources[name] = r
		if _, ok := s.FromResources[name]; !ok {
			s.FromResources[name] = cpuAndMemory(container(pod, name).Resources)
		}
	}
	return k.writeResize(next, s, now)
}

// ResizeProgress is ResizeProgress of a pod with a resize that is recorded: None without one, Failed where it was given
// up, or is in flight for longer than the deadline (0 is none). The error is an ErrBrokenState or ErrNoPod.
func (k Keys) ResizeProgress(pod *corev1.Pod, deadline time.Duration, now time.Time) (Progress, error) {
	if pod == nil {
		return Progress{State: Failed}, ErrNoPod
	}
	s, err := k.ReadResize(pod)
	switch {
	case err != nil:
		return Progress{State: InProgress, Reason: ReasonBrokenState, Message: err.Error()}, err
	case s == nil:
		return Progress{State: None}, nil
	}
	if p, is := ended(s.Phase, s.Reason, s.Message); is {
		return p, nil
	}
	p := ResizeProgress(pod)
	if p.State != Failed && !s.TargetResources.Holds(pod) {
		p = waits(ReasonSpecDiffers, "", "the spec hasn't the target resources")
	}
	return p.within(deadline, now.Sub(s.UpdateTime.Time)), nil
}

// CompleteResize is the pod with its resize completed. A pod without one in flight stays as it is.
func (k Keys) CompleteResize(pod *corev1.Pod, now time.Time) (next *corev1.Pod, changed bool, err error) {
	return k.endResize(pod, InplaceUpdatePhaseCompleted, Progress{}, now)
}

// FailResize is the pod with its resize given up where it stands.
func (k Keys) FailResize(pod *corev1.Pod, why Progress, now time.Time) (next *corev1.Pod, changed bool, err error) {
	return k.endResize(pod, InplaceUpdatePhaseFailed, why, now)
}

func (k Keys) endResize(pod *corev1.Pod, phase string, why Progress, now time.Time) (*corev1.Pod, bool, error) {
	if pod == nil {
		return nil, false, ErrNoPod
	}
	s, err := k.ReadResize(pod)
	if err != nil {
		return nil, false, err
	}
	if !s.InFlight() {
		return pod.DeepCopy(), false, nil
	}
	s.Phase, s.Reason, s.Message = phase, why.Reason, why.Message
	return k.writeResize(pod.DeepCopy(), s, now)
}

// RollbackResize is the pod with the intention to give it the resources that it had before its last resize; the state's
// TargetResources are what is then to be applied. A rollback stays as it is. It is an ErrNothingToRollBack where no
// resources before are recorded. With an error, next is nil.
func (k Keys) RollbackResize(pod *corev1.Pod, why Progress, now time.Time) (next *corev1.Pod, changed bool, err error) {
	if pod == nil {
		return nil, false, ErrNoPod
	}
	before, err := k.ReadResize(pod)
	if err != nil {
		return nil, false, err
	}
	if before != nil && len(before.RolledBack) > 0 {
		return pod.DeepCopy(), false, nil
	}
	if before == nil || len(before.FromResources) == 0 {
		return nil, false, fmt.Errorf("roll back pod %s: %w: no resources before are recorded on it", name(pod), ErrNothingToRollBack)
	}
	s := &ResizeState{
		Phase: InplaceUpdatePhaseStarting, TargetResources: before.FromResources, RolledBack: before.TargetResources,
		Reason: why.Reason, Message: why.Message,
	}
	return k.writeResize(pod.DeepCopy(), s, now)
}

func (k Keys) writeResize(pod *corev1.Pod, s *ResizeState, now time.Time) (*corev1.Pod, bool, error) {
	s.UpdateTime = metav1.NewMicroTime(now.UTC().Truncate(time.Microsecond))
	text, err := json.Marshal(s)
	if err != nil {
		return nil, false, fmt.Errorf("pod %s: write annotation %s: %w", name(pod), k.Filled().Resize, err)
	}
	annotate(pod, k.Filled().Resize, string(text))
	return pod, true, nil
}

// Equal says whether both name the same quantities.
func (r Resources) Equal(other Resources) bool {
	if len(r) != len(other) {
		return false
	}
	for name, want := range r {
		have, ok := other[name]
		if !ok || !holds(have, want) || !holds(want, have) {
			return false
		}
	}
	return true
}
