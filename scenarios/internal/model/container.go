package model

import (
	"fmt"
	"time"
)

// ContainerState is the state of one container.
type ContainerState uint8

// The states. Those before ContainerRunning wait; ContainerCrashBackOff waits as well, after a run.
const (
	ContainerCreating ContainerState = iota
	ContainerPullError
	ContainerPullBackOff
	ContainerRunning
	ContainerExited
	ContainerCrashBackOff
)

// Container is what a pod's phase and conditions need to know of a container.
type Container struct {
	State ContainerState
	// Ready is that of the container's status.
	Ready bool
	// ExitCode is that of the last run, Exits says whether there was one.
	ExitCode uint8
	Exits    bool
}

// PullBackOff returns the time from the nth failed pull in a row until the kubelet pulls again: 10 s, 20 s and so on up to
// five minutes (k8s.io/kubernetes/pkg/kubelet/kubelet.go).
func PullBackOff(n int) time.Duration {
	if n <= 0 {
		return 0
	}
	return min(firstBackOff<<min(n-1, 5), maxBackOff)
}

// CrashBackOff returns the time from the nth crash in a row until the kubelet starts the container again: nothing after
// the first, then the times of [PullBackOff] (doBackOff of k8s.io/kubernetes/pkg/kubelet/kuberuntime/kuberuntime_manager.go).
func CrashBackOff(n int) time.Duration { return PullBackOff(n - 1) }

const (
	firstBackOff = 10 * time.Second
	maxBackOff   = 5 * time.Minute
)

// Whose says whose container it is, for the messages.
type Whose struct {
	Container, Image string
	// Pod and Namespace are names, UID is the pod's.
	Pod, Namespace, UID string
	// PullError is the registry's or the runtime's message about a failed pull.
	PullError string
	// Crashes counts those in a row.
	Crashes int
}

// Waiting returns reason and message of a container that waits in the state.
func (s ContainerState) Waiting(v Version, of Whose) (reason, message string) {
	switch s {
	case ContainerPullError:
		return "ErrImagePull", of.PullError
	case ContainerPullBackOff:
		message := fmt.Sprintf("Back-off pulling image %q", of.Image)
		if v.PullErrorInBackOff() && of.PullError != "" {
			message += ": ErrImagePull: " + of.PullError
		}
		return "ImagePullBackOff", message
	case ContainerCrashBackOff:
		return "CrashLoopBackOff", fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
			CrashBackOff(of.Crashes), of.Container, of.Pod, of.Namespace, of.UID)
	}
	return "ContainerCreating", ""
}
