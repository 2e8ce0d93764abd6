package podupdate

import (
	"fmt"
	"time"
)

// Outcome is how far an update has come.
type Outcome string

// The outcomes. None is a pod without an update.
const (
	None       Outcome = "None"
	InProgress Outcome = "InProgress"
	Done       Outcome = "Done"
	Failed     Outcome = "Failed"
)

// Progress is how far an update has come and what it waits for, or why it failed.
type Progress struct {
	State Outcome
	// Reason is one of the Reasons below, or a kubelet's own for a container that waits or has ended, such as
	// ImagePullBackOff, CrashLoopBackOff or OOMKilled. It is empty when there is nothing to say.
	Reason string
	// Message is for people, in one line.
	Message string
	// Container is the one that is in the way, the first by name. It is empty if it is the pod.
	Container string
}

// within is the progress, failed if it took longer than the deadline; 0 is none.
func (p Progress) within(deadline, took time.Duration) Progress {
	if p.State != InProgress || deadline <= 0 || took <= deadline {
		return p
	}
	message := fmt.Sprintf("%s after %s of %s", p.Reason, took.Round(time.Second), deadline)
	if p.Message != "" {
		message += ": " + p.Message
	}
	return Progress{State: Failed, Reason: ReasonDeadlineExceeded, Container: p.Container, Message: message}
}

// String is the progress in one line.
func (p Progress) String() string {
	text := string(p.State)
	if p.Reason != "" {
		text += " " + p.Reason
	}
	if p.Container != "" {
		text += " (" + p.Container + ")"
	}
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}

// The reasons of this package.
const (
	// ReasonBrokenState is a state annotation that can't be read.
	ReasonBrokenState = "BrokenState"
	// ReasonDeadlineExceeded is an update that took longer than it may. The message says what it waited for.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonPodDeleting is a pod that is being deleted.
	ReasonPodDeleting = "PodDeleting"
	// ReasonPodEnded is a pod that has failed or succeeded, whose containers never start again.
	ReasonPodEnded = "PodEnded"
	// ReasonSpecDiffers is a spec that hasn't the target image, or no more.
	ReasonSpecDiffers = "SpecDiffers"
	// ReasonNotObserved is a status of before the change: its observedGeneration is older than the pod's generation.
	ReasonNotObserved = "NotObserved"
	// ReasonNoStatus is a container of which the kubelet has not reported.
	ReasonNoStatus = "NoStatus"
	// ReasonNotInitialized is a plain init container in a pod that isn't initialized yet.
	ReasonNotInitialized = "NotInitialized"
	// ReasonWaiting and ReasonTerminated are containers that wait or have ended without a reason of the kubelet's.
	ReasonWaiting    = "Waiting"
	ReasonTerminated = "Terminated"
	// ReasonOldContainer is a container that was not replaced yet.
	ReasonOldContainer = "OldContainer"
	// ReasonDigestUnknown is a resolver that has failed.
	ReasonDigestUnknown = "DigestUnknown"
	// ReasonDigestDiffers is a container that runs by another image than the target.
	ReasonDigestDiffers = "DigestDiffers"
	// ReasonOldImage is a container that runs by the image id of before, where nobody knows that the target has it too.
	ReasonOldImage = "OldImage"
	// ReasonNotReady is a container that runs and isn't ready.
	ReasonNotReady = "NotReady"
	// ReasonInvalidImageName is the kubelet's word for an image that can't be parsed, which no waiting mends.
	ReasonInvalidImageName = "InvalidImageName"
)
