package inplace

import "github.com/nodesim/nodesim/scenarios/inplace/podupdate"

// The annotation of an update, and its phases, by the default Keys.
const (
	PodAnnotationInPlaceUpdateStateKey = podupdate.PodAnnotationInPlaceUpdateStateKey
	InplaceUpdatePhaseStarting         = podupdate.InplaceUpdatePhaseStarting
	InplaceUpdatePhaseStopping         = podupdate.InplaceUpdatePhaseStopping
	InplaceUpdatePhaseCompleted        = podupdate.InplaceUpdatePhaseCompleted
)

// What can be wrong with an update; package podupdate has more.
var (
	ErrNoContainers          = podupdate.ErrNoContainers
	ErrContainerNotFound     = podupdate.ErrContainerNotFound
	ErrUnexpectedPodPhase    = podupdate.ErrUnexpectedPodPhase
	ErrNoIdlePodsAvailable   = podupdate.ErrNoIdlePodsAvailable
	ErrTargetImageIsRequired = podupdate.ErrTargetImageIsRequired
)

// What is written on a pod, and what is wanted of it.
type (
	// InplaceUpdateContainerStatus is a container before its update.
	InplaceUpdateContainerStatus = podupdate.InplaceUpdateContainerStatus
	// StableContainerStatus is a container after it.
	StableContainerStatus = podupdate.StableContainerStatus
	// InplaceUpdateState is the update as its annotation has it.
	InplaceUpdateState = podupdate.InplaceUpdateState
	// UpdateOptions describe the change of a trigger.
	UpdateOptions = podupdate.UpdateOptions
)
