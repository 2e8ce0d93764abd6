package podupdate

import (
	"errors"
	"strings"
)

// What can be wrong with an update. Test for them with errors.Is: they come wrapped with the place.
var (
	ErrNoContainers          = errors.New("pod has no containers")
	ErrContainerNotFound     = errors.New("container not found in pod")
	ErrUnexpectedPodPhase    = errors.New("pod phase does not match expected value")
	ErrNoIdlePodsAvailable   = errors.New("no idle sandboxes available for creating")
	ErrTargetImageIsRequired = errors.New("target image is required")
)

// What else can be wrong with one.
var (
	// ErrNoPod is a nil pod.
	ErrNoPod = errors.New("no pod given")
	// ErrBrokenState is an annotation that can't be read. Nothing is complete then, and nothing is written.
	ErrBrokenState = errors.New("state annotation is broken")
	// ErrEphemeralContainer is a change of an ephemeral container, which the API server refuses: one can be added and
	// never changed (k8s.io/kubernetes, pkg/apis/core/validation, ValidatePodEphemeralContainersUpdate).
	ErrEphemeralContainer = errors.New("ephemeral container can't be changed")
	// ErrPodNotRunning is an update that no container would have to be replaced for, on a pod that doesn't run.
	ErrPodNotRunning = errors.New("pod is not running")
	// ErrUnknownPhase is a sandbox phase that there isn't.
	ErrUnknownPhase = errors.New("unknown phase")
	// ErrNothingToRollBack is a rollback of a pod on which no images before are recorded.
	ErrNothingToRollBack = errors.New("nothing to roll back to")
	// ErrRefused is a resize that the API server refuses, which is recorded on the pod by now.
	ErrRefused = errors.New("the server refuses the resources")
	// ErrPodReplaced is a pod that lives no more while another has its name.
	ErrPodReplaced = errors.New("pod was replaced by another of its name")
)

// problems are errors of one kind of place, in a fixed order, that read as one sentence.
type problems []error

func (p problems) Error() string {
	texts := make([]string, len(p))
	for i, err := range p {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (p problems) Unwrap() []error { return p }

// err is nil if there are none.
func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}
