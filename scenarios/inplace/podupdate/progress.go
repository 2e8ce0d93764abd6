package podupdate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
)

// Digests is what is known of images without asking a registry: whether a container whose status has that imageID runs
// the image. Recorded and *Learned are two.
type Digests interface {
	Runs(image, imageID string) imageresolver.Verdict
}

// Progress is how far the update on a pod has come at now. It is Done when, for each container that the update replaces,
// the spec has the target image, and the container has another id than before, runs by that image and is ready; plain init
// containers, which the kubelet doesn't run again, only need the spec. It is Failed when it never will be: the pod
// is being deleted or has ended, the image's name can't be parsed, the update was given up, or it is in flight for longer
// than the deadline (0 is none).
//
// digests may be nil. Where it doesn't know the image, a container runs by it if its image id is another than before, or
// its status names that very image.
//
// The error is an ErrBrokenState or ErrNoPod.
func (k Keys) Progress(pod *corev1.Pod, digests Digests, deadline time.Duration, now time.Time) (Progress, error) {
	var runs judge
	if digests != nil {
		runs = func(image string, s *corev1.ContainerStatus) (imageresolver.Verdict, error) {
			return digests.Runs(image, s.ImageID), nil
		}
	}
	return k.progress(pod, inspection{runs: runs}, deadline, now)
}

func (k Keys) progress(pod *corev1.Pod, look inspection, deadline time.Duration, now time.Time) (Progress, error) {
	if pod == nil {
		return Progress{State: Failed}, ErrNoPod
	}
	s, err := k.Read(pod)
	switch {
	case err != nil:
		return Progress{State: InProgress, Reason: ReasonBrokenState, Message: err.Error()}, err
	case s == nil:
		return Progress{State: None}, nil
	}
	if p, is := ended(s.Phase, s.Reason, s.Message); is {
		return p, nil
	}
	p, err := look.inspect(pod, s)
	return p.within(deadline, now.Sub(s.Since())), err
}

// ended is the progress of a record whose phase is a final one.
func ended(phase, reason, message string) (p Progress, is bool) {
	switch phase {
	case InplaceUpdatePhaseCompleted:
		return Progress{State: Done}, true
	case InplaceUpdatePhaseFailed:
		return Progress{State: Failed, Reason: reason, Message: message}, true
	}
	return Progress{}, false
}

// inspection looks at a pod whose update is in flight.
type inspection struct {
	runs judge // may be nil
	// trusting passes a container without any state, as callers' tests write it by hand. A kubelet always writes one.
	trusting bool
}

// judge says whether a container runs by an image.
type judge func(image string, s *corev1.ContainerStatus) (imageresolver.Verdict, error)

func (l inspection) inspect(pod *corev1.Pod, s *State) (Progress, error) {
	if pod.DeletionTimestamp != nil {
		return Progress{State: Failed, Reason: ReasonPodDeleting, Message: "the pod is being deleted"}, nil
	}
	if p := pod.Status.Phase; p == corev1.PodFailed || p == corev1.PodSucceeded {
		return Progress{State: Failed, Reason: ReasonPodEnded, Message: "the pod is " + string(p)}, nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.TargetImages)) {
		c, want := container(pod, name), s.TargetImages[name]
		if c == nil {
			return waits(ReasonSpecDiffers, name, "the spec hasn't the container"), nil
		}
		if !imageresolver.Same(c.Image, want) {
			return waits(ReasonSpecDiffers, name, fmt.Sprintf("the spec's image is %q: want %q", c.Image, want)), nil
		}
	}
	if seen := pod.Status.ObservedGeneration; seen != 0 && seen < pod.Generation {
		return waits(ReasonNotObserved, "", fmt.Sprintf("the status is of generation %d: want %d", seen, pod.Generation)), nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.LastContainerStatuses)) {
		p, err := l.container(pod, name, s.LastContainerStatuses[name])
		if err != nil || p.State != Done {
			return p, err
		}
	}
	return Progress{State: Done}, nil
}

// container is how far one container has come.
func (l inspection) container(pod *corev1.Pod, name string, was InplaceUpdateContainerStatus) (Progress, error) {
	if endsBeforeOthers(pod, name) {
		if initialized(pod) || l.trusting {
			return Progress{State: Done}, nil
		}
		return waits(ReasonNotInitialized, name, "the pod isn't initialized"), nil
	}
	c, s := container(pod, name), ContainerStatus(pod, name)
	switch {
	case c == nil:
		return waits(ReasonSpecDiffers, name, "the spec hasn't the container"), nil
	case s == nil:
		return waits(ReasonNoStatus, name, "the kubelet has reported nothing of the container"), nil
	case s.State.Waiting != nil:
		return waiting(name, s.State.Waiting), nil
	case s.State.Terminated != nil:
		t := s.State.Terminated
		return waits(cmp.Or(t.Reason, ReasonTerminated), name, cmp.Or(line(t.Message), fmt.Sprintf("the container ended with %d", t.ExitCode))), nil
	case s.State.Running == nil && !l.trusting:
		return waits(ReasonWaiting, name, "the container has no state"), nil
	case was.ContainerID != "" && s.ContainerID == was.ContainerID:
		return waits(ReasonOldContainer, name, "the container isn't replaced yet"), nil
	}
	if p, err := l.image(c, s, was); err != nil || p.State != Done {
		return p, err
	}
	if s.State.Running != nil && !s.Ready {
		return waits(ReasonNotReady, name, "the container isn't ready"), nil
	}
	return Progress{State: Done}, nil
}

// image is whether a container runs by its image.
func (l inspection) image(c *corev1.Container, s *corev1.ContainerStatus, was InplaceUpdateContainerStatus) (Progress, error) {
	verdict := imageresolver.Unknown
	if l.runs != nil {
		var err error
		if verdict, err = l.runs(c.Image, s); err != nil {
			return waits(ReasonDigestUnknown, c.Name, err.Error()), fmt.Errorf("container %q: %w", c.Name, err)
		}
	}
	switch {
	case verdict == imageresolver.No:
		return waits(ReasonDigestDiffers, c.Name, fmt.Sprintf("the container runs by %q: want %q", s.ImageID, c.Image)), nil
	case verdict == imageresolver.Unknown && (was.ImageID == "" || was.ImageID == s.ImageID) && !imageresolver.Same(s.Image, c.Image):
		return waits(ReasonOldImage, c.Name, fmt.Sprintf("the container runs %q by %q as before: want %q", s.Image, s.ImageID, c.Image)), nil
	}
	return Progress{State: Done}, nil
}

// waiting is a container that waits. Only a name that can't be parsed is hopeless: an image may be pushed later, a secret
// created, a crash be over.
func waiting(name string, w *corev1.ContainerStateWaiting) Progress {
	p := waits(cmp.Or(w.Reason, ReasonWaiting), name, cmp.Or(line(w.Message), "the container waits"))
	if w.Reason == ReasonInvalidImageName {
		p.State = Failed
	}
	return p
}

func waits(reason, container, message string) Progress {
	return Progress{State: InProgress, Reason: reason, Container: container, Message: message}
}

// line is a text of the kubelet's in one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }
