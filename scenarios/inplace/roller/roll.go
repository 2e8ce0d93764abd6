package roller

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// Roll is the wanted change of the pods, with its bounds.
type Roll struct {
	// Images are the wanted images by container. Exactly one of Images and Resources is set.
	Images map[string]string
	// Resources are the wanted resources by container.
	Resources podupdate.Resources

	// TargetPodPhase is the sandbox phase of a pod whose images were changed, or changed back: running if empty. Pods
	// of a pool that are to stay idle want idle.
	TargetPodPhase string

	// MaxUnavailable bounds the pods that are unavailable at a time; less than 1 means 1.
	MaxUnavailable int
	// Replicas is the wanted number of pods; missing ones are unavailable. 0 is as many as there are.
	Replicas int
	// Deadline bounds the change of one pod. 0 is without limit.
	Deadline time.Duration
	// MinReady is the time for which a changed pod must have been ready before it is marked.
	MinReady time.Duration

	// OnFailure says what becomes of a pod whose change fails; empty means Stop.
	OnFailure OnFailure
	// FailureBudget is the number of pods that may fail before no other is changed.
	FailureBudget int
	// Since forgets the failures of before: pods that were given up then are tried again.
	Since time.Time

	// Keys are the labels and annotations.
	Keys podupdate.Keys
	// Digests may be nil. One that has a method Learn(*corev1.Pod) is taught by a Roller.
	Digests podupdate.Digests
}

// OnFailure says what becomes of a pod whose change fails.
type OnFailure string

// What may become of it.
const (
	// Stop leaves the pod as it stands, marked as failed.
	Stop OnFailure = "stop"
	// Rollback takes the pod back.
	Rollback OnFailure = "rollback"
	// RollbackAll takes the pod back and, when the budget is spent, every other that the roll has changed.
	RollbackAll OnFailure = "rollback-all"
)

// ErrUnsound is a roll that can't be planned, whatever the pods.
var ErrUnsound = errors.New("roll isn't sound")

// Check returns the error of the roll itself, whatever the pods.
func (r Roll) Check() error {
	var all []error
	if (len(r.Images) == 0) == (len(r.Resources) == 0) {
		all = append(all, errors.New("want Images or Resources, and not both"))
	}
	switch r.OnFailure {
	case "", Stop, Rollback, RollbackAll:
	default:
		all = append(all, fmt.Errorf("OnFailure is %q: want %q, %q or %q", r.OnFailure, Stop, Rollback, RollbackAll))
	}
	switch r.TargetPodPhase {
	case "", podupdate.SandboxPhaseRunning, podupdate.SandboxPhaseIdle:
	default:
		all = append(all, fmt.Errorf("TargetPodPhase is %q: want running or idle", r.TargetPodPhase))
	}
	for _, n := range []struct {
		field string
		value int64
	}{
		{"Replicas", int64(r.Replicas)}, {"FailureBudget", int64(r.FailureBudget)},
		{"Deadline", int64(r.Deadline)}, {"MinReady", int64(r.MinReady)},
	} {
		if n.value < 0 {
			all = append(all, fmt.Errorf("%s is negative: want 0 or more", n.field))
		}
	}
	for _, container := range slices.Sorted(maps.Keys(r.Images)) {
		if r.Images[container] == "" {
			all = append(all, fmt.Errorf("container %q: %w", container, podupdate.ErrTargetImageIsRequired))
		}
	}
	if len(all) == 0 {
		return nil
	}
	texts := make([]string, len(all))
	for i, err := range all {
		texts[i] = err.Error()
	}
	return fmt.Errorf("%w: %s", ErrUnsound, strings.Join(texts, "; "))
}

func (r Roll) most() int { return max(1, r.MaxUnavailable) }

func (r Roll) phase() string { return cmp.Or(r.TargetPodPhase, podupdate.SandboxPhaseRunning) }
