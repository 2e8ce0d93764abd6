package noderoll

import (
	"encoding/json"
	"time"
)

// DefaultStateAnnotation is the key under which updaters of agentbox pools note
// an update. Its value has the shape of updateState.
const DefaultStateAnnotation = "agentbox.navix.sh/inplace-update-state"

// updateState is the part of the annotation that pods don't say themselves. It
// is here, and not in a package of updaters, since this package imports
// nothing of ours: what it knows of an update it knows as any reader of pods.
type updateState struct {
	Phase        string            `json:"phase"`
	TargetImages map[string]string `json:"targetImages"`
	Updated      time.Time         `json:"updateTimestamp"`
	// Last are the containers that an update in flight replaces.
	Last map[string]struct {
		ContainerID string `json:"containerID"`
	} `json:"lastContainerStatuses"`
	// Stable are the containers that an update has left running.
	Stable map[string]struct {
		ContainerID string `json:"containerID"`
	} `json:"stableContainerStatuses"`
	TargetPhase string `json:"targetPodPhase"`
}

// stateOf reads the annotation. What can't be read says nothing: what pods show
// themselves is enough for a roll.
func stateOf(raw string) (s updateState) {
	if raw == "" || json.Unmarshal([]byte(raw), &s) != nil {
		return updateState{}
	}
	return s
}

// inFlight reports whether an update is going on.
func (s *updateState) inFlight() bool { return s.Phase == "starting" || s.Phase == "stopping" }

// watched reports whether containers are to be the ones that the update has left:
// only a pod that was put to use is watched for restarts.
func (s *updateState) watched() bool { return s.Phase == "completed" && s.TargetPhase == "running" }
