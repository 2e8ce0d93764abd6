package podupdate

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodAnnotationInPlaceUpdateStateKey is the annotation of the default Keys.
const PodAnnotationInPlaceUpdateStateKey = "agentbox.navix.sh/inplace-update-state"

// The phases of an update. Starting and stopping are in flight.
const (
	InplaceUpdatePhaseStarting  = "starting"
	InplaceUpdatePhaseStopping  = "stopping"
	InplaceUpdatePhaseCompleted = "completed"
	// InplaceUpdatePhaseFailed is an update that was given up and not rolled back.
	InplaceUpdatePhaseFailed = "failed"
)

// InplaceUpdateContainerStatus is what a container ran by when its update was triggered.
type InplaceUpdateContainerStatus struct {
	ImageID string `json:"imageID,omitempty"`
	// ContainerID proves a replacement: the update isn't complete while the container has this id. It is empty where
	// nothing is known of the container, or where the container may stay as it is.
	ContainerID string `json:"containerID,omitempty"`
}

// StableContainerStatus is what a container ran by when its update was complete.
type StableContainerStatus struct {
	// ContainerID is the signal: another id means that the container was restarted.
	ContainerID string `json:"containerID,omitempty"`
	// RestartCount is kept to be read by people. It is no signal.
	RestartCount int32 `json:"restartCount"`
}

// InplaceUpdateState is the pod's annotation, as JSON.
type InplaceUpdateState struct {
	Phase string `json:"phase"`
	// TargetImage is the image if only one container is updated.
	TargetImage string `json:"targetImage,omitempty"`
	// TargetImages are the images by container.
	TargetImages map[string]string `json:"targetImages,omitempty"`
	// TargetPodPhase is the sandbox phase that the pod has when the update is complete.
	TargetPodPhase string `json:"targetPodPhase,omitempty"`
	// UpdateTimestamp is when the phase was entered, in whole seconds.
	UpdateTimestamp metav1.Time `json:"updateTimestamp,omitempty"`
	// LastContainerStatuses has each container that the update replaces.
	LastContainerStatuses map[string]InplaceUpdateContainerStatus `json:"lastContainerStatuses,omitempty"`
	// StableContainerStatuses is there when the update is complete and its target is running: the containers that were
	// targeted, and no others, so that a sidecar may restart as it likes.
	StableContainerStatuses map[string]StableContainerStatus `json:"stableContainerStatuses,omitempty"`
}

// State is the annotation with what this package keeps beside an InplaceUpdateState, in the same JSON object. Programs
// that know the InplaceUpdateState alone read it as one.
type State struct {
	InplaceUpdateState
	// UpdateTime is UpdateTimestamp with its microseconds, if it has any.
	UpdateTime *metav1.MicroTime `json:"updateTime,omitempty"`
	// FromImages are the images before the update, by container: those to which a rollback returns. They stay when the
	// update is complete. A rollback has none.
	FromImages map[string]string `json:"fromImages,omitempty"`
	// Containers has the containers of LastContainerStatuses by the image that they were started by, as far as that is
	// known. An update that is replaced by another needs it to know which of them may stay.
	Containers map[string]StartedContainer `json:"containers,omitempty"`
	// FromPodPhase is the sandbox phase before the update.
	FromPodPhase string `json:"fromPodPhase,omitempty"`
	// RolledBack are the target images that were given up, of a rollback.
	RolledBack map[string]string `json:"rolledBack,omitempty"`
	// Reason and Message say why an update was rolled back or has failed.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// StartedContainer is a container by its id, and the image in the spec by which it was started.
type StartedContainer struct {
	Image       string `json:"image,omitempty"`
	ContainerID string `json:"containerID,omitempty"`
}

// InFlight says whether containers are being replaced.
func (s *State) InFlight() bool {
	return s != nil && (s.Phase == InplaceUpdatePhaseStarting || s.Phase == InplaceUpdatePhaseStopping)
}

// Since is when the phase was entered, to the microsecond where that is known.
func (s *State) Since() time.Time {
	if s.UpdateTime != nil && s.UpdateTime.Truncate(time.Second).Equal(s.UpdateTimestamp.Time) {
		return s.UpdateTime.UTC()
	}
	return s.UpdateTimestamp.UTC()
}

// Read is the update that is recorded on a pod: nil if there is none, ErrBrokenState if it can't be read or its phase is
// none of the four.
func (k Keys) Read(pod *corev1.Pod) (*State, error) {
	s, err := k.Parse(pod)
	if s == nil || err != nil {
		return nil, err
	}
	switch s.Phase {
	case InplaceUpdatePhaseStarting, InplaceUpdatePhaseStopping, InplaceUpdatePhaseCompleted, InplaceUpdatePhaseFailed:
		return s, nil
	}
	return nil, fmt.Errorf("pod %s: annotation %s: %w: phase is %q: want starting, stopping, completed or failed; remove the annotation",
		name(pod), k.Filled().State, ErrBrokenState, s.Phase)
}

// Parse is Read with whatever phase the annotation has.
func (k Keys) Parse(pod *corev1.Pod) (*State, error) {
	k = k.Filled()
	if pod == nil || pod.Annotations[k.State] == "" {
		return nil, nil
	}
	var s State
	if err := json.Unmarshal([]byte(pod.Annotations[k.State]), &s); err != nil {
		return nil, fmt.Errorf("pod %s: annotation %s: %w: %w: remove the annotation, or trigger the update again after that",
			name(pod), k.State, ErrBrokenState, err)
	}
	return &s, nil
}

// stamp sets the time of a phase.
func (s *State) stamp(now time.Time) {
	now = now.UTC()
	s.UpdateTimestamp, s.UpdateTime = metav1.NewTime(now.Truncate(time.Second)), nil
	if exact := now.Truncate(time.Microsecond); !exact.Equal(s.UpdateTimestamp.Time) {
		m := metav1.NewMicroTime(exact)
		s.UpdateTime = &m
	}
}

// write puts the state on a pod. k is Filled.
func (k Keys) write(pod *corev1.Pod, s *State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("pod %s: write annotation %s: %w", name(pod), k.State, err)
	}
	annotate(pod, k.State, string(text))
	return nil
}

// name is the pod as errors have it: namespace/name, or the name alone.
func name(pod *corev1.Pod) string {
	if pod.Namespace == "" {
		return pod.Name
	}
	return pod.Namespace + "/" + pod.Name
}
