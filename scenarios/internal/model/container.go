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

// Container is one container of a pod: 8 bytes. The zero Container waits to be created.
type Container struct {
	State ContainerState
	// Ready and Started are those of the container's status. A container without a readiness probe is ready once it runs.
	Ready, Started bool
	// ExitCode is that of the last run, Exits says whether there was one; OOM says that it ran out of memory.
	ExitCode   uint8
	Exits, OOM bool
	// Restarts counts the runs after the first. A container that restarts more often than it can count stays at the end.
	Restarts uint8
	// Series counts the failed pulls before the first run, and after it the runs that ended soon after each other.
	Series uint8
}

// Exit codes that a roll brings: a container that handles SIGTERM, one that dies of it, one that SIGKILL ends.
const (
	ExitCompleted uint8 = 0
	ExitSIGTERM   uint8 = 143
	ExitSIGKILL   uint8 = 137
)

// PullFailed is a pull that failed: ErrImagePull.
func (c *Container) PullFailed() {
	c.State = ContainerPullError
	c.Series = saturated(c.Series)
}

// PullWaits is the kubelet's next look, before it pulls again: ImagePullBackOff.
func (c *Container) PullWaits() { c.State = ContainerPullBackOff }

// Start is a container that starts to run: Started at once, and ready unless a probe has to say so.
func (c *Container) Start(probed bool) {
	switch {
	case c.Exits:
		c.Restarts = saturated(c.Restarts)
	default:
		c.Series = 0
	}
	c.State, c.Started, c.Ready = ContainerRunning, true, !probed
}

// Probe is the readiness probe's verdict. It does nothing to a container that doesn't run.
func (c *Container) Probe(ready bool) {
	if c.State == ContainerRunning {
		c.Ready = ready
	}
}

// Exit is the end of a run that lasted as long as ran. A run of more than ten minutes ends a series of crashes: that
// is more than twice the longest back-off (k8s.io/client-go/util/flowcontrol/backoff.go).
func (c *Container) Exit(code uint8, oom bool, ran time.Duration) {
	if ran > 2*maxBackOff {
		c.Series = 0
	}
	c.Series = saturated(c.Series)
	c.State, c.Ready, c.Started, c.Exits, c.ExitCode, c.OOM = ContainerExited, false, false, true, code, oom
}

// RestartWaits is the kubelet holding back the next run: CrashLoopBackOff.
func (c *Container) RestartWaits() { c.State = ContainerCrashBackOff }

// BackOff returns the time from the failure until the kubelet pulls or starts the container again: for images 10 s,
// 20 s and so on up to five minutes; for crashes nothing after the first, then the same series
// (k8s.io/kubernetes/pkg/kubelet/kubelet.go; doBackOff of pkg/kubelet/kuberuntime/kuberuntime_manager.go).
func (c Container) BackOff() time.Duration {
	switch c.State {
	case ContainerPullError, ContainerPullBackOff:
		return backOff(int(c.Series))
	case ContainerExited, ContainerCrashBackOff:
		return backOff(int(c.Series) - 1)
	}
	return 0
}

const (
	firstBackOff = 10 * time.Second
	maxBackOff   = 5 * time.Minute
)

// backOff is the nth wait of the series 10 s, 20 s … 5 min; nothing for 0 and less.
func backOff(n int) time.Duration {
	if n <= 0 {
		return 0
	}
	return min(firstBackOff<<min(n-1, 5), maxBackOff)
}

func saturated(n uint8) uint8 {
	if n == 255 {
		return n
	}
	return n + 1
}

// Step is one of the three forms of a container's state: Waiting or Terminated with a reason, or, with none, running.
type Step struct {
	Kind            StepKind
	Reason, Message string
	ExitCode        uint8
}

// StepKind is the form of a Step.
type StepKind uint8

// The forms. NoStep is an empty lastState.
const (
	NoStep StepKind = iota
	StepWaiting
	StepRunning
	StepTerminated
)

// Whose says whose container it is, for the messages.
type Whose struct {
	Container, Image string
	// Pod and Namespace are names, UID is the pod's.
	Pod, Namespace, UID string
	// PullError is the registry's or the runtime's message about a failed pull.
	PullError string
}

// Steps are state and lastState of the container's status.
func (c Container) Steps(v Version, of Whose) (now, last Step) {
	if c.Exits && c.State != ContainerExited {
		last = c.terminated()
	}
	switch c.State {
	case ContainerPullError:
		return Step{Kind: StepWaiting, Reason: "ErrImagePull", Message: of.PullError}, last
	case ContainerPullBackOff:
		message := fmt.Sprintf("Back-off pulling image %q", of.Image)
		if v.PullErrorInBackOff() && of.PullError != "" {
			message += ": ErrImagePull: " + of.PullError
		}
		return Step{Kind: StepWaiting, Reason: "ImagePullBackOff", Message: message}, last
	case ContainerRunning:
		return Step{Kind: StepRunning}, last
	case ContainerExited:
		return c.terminated(), last
	case ContainerCrashBackOff:
		message := fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", c.BackOff(), of.Container, of.Pod, of.Namespace, of.UID)
		return Step{Kind: StepWaiting, Reason: "CrashLoopBackOff", Message: message}, last
	}
	return Step{Kind: StepWaiting, Reason: "ContainerCreating"}, last
}

func (c Container) terminated() Step {
	reason := "Error"
	switch {
	case c.OOM:
		reason = "OOMKilled"
	case c.ExitCode == 0:
		reason = "Completed"
	}
	return Step{Kind: StepTerminated, Reason: reason, ExitCode: c.ExitCode}
}
