package podupdate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
)

// Apply is the pod as a trigger writes it, and whether that differs from the pod. With an error, next is nil. Which of
// these it is depends on the images, which are compared by what they name (imageresolver.Same):
//
//   - Some differ: they are set, the state is in flight, and the label is UpdatePodPhase. What an earlier update that is
//     still in flight replaces, this one awaits as well.
//   - None differs and an update is in flight: that goes on, towards TargetPodPhase if one is given.
//   - None differs, the last update has failed: it is awaited again.
//   - None differs, and UpdatePodPhase is starting: nothing is to be replaced, and the pod is in TargetPodPhase at once. It must
//     be running.
//   - Else the phase changes to TargetPodPhase, if one is given.
//
// A pod that becomes idle loses its sandbox's identity, a running one gets its times, by whichever way.
func (k Keys) Apply(pod *corev1.Pod, opts UpdateOptions, now time.Time) (next *corev1.Pod, changed bool, err error) {
	k = k.Filled()
	if pod == nil {
		return nil, false, ErrNoPod
	}
	if err := opts.check(); err != nil {
		return nil, false, fmt.Errorf("update pod %s: %w", name(pod), err)
	}
	if want := opts.ExpectedCurrentSandboxPhase; want != "" && want != k.SandboxPhase(pod) {
		return nil, false, fmt.Errorf("update pod %s: %w: found %s, want %s", name(pod), ErrUnexpectedPodPhase, k.SandboxPhase(pod), want)
	}
	before, err := k.Read(pod)
	if err != nil {
		return nil, false, err
	}
	differ, err := compare(pod, opts.ContainerImages)
	if err != nil {
		return nil, false, fmt.Errorf("update pod %s: %w", name(pod), err)
	}
	if before != nil && before.Phase != InplaceUpdatePhaseCompleted {
		for name, image := range opts.ContainerImages { // somebody else has set it already: the update that is recorded awaits another
			if was, ok := before.TargetImages[name]; ok && !imageresolver.Same(was, image) {
				differ[name] = image
			}
		}
	}
	next = pod.DeepCopy()
	opts.change(next)
	switch {
	case len(differ) > 0:
		state := k.successor(pod, before, differ)
		state.TargetPodPhase = cmp.Or(opts.TargetPodPhase, SandboxPhaseRunning)
		err = k.launch(next, state, cmp.Or(opts.UpdatePodPhase, InplaceUpdatePhaseStarting), now)
	case before.InFlight():
		state := *before
		state.TargetPodPhase = cmp.Or(opts.TargetPodPhase, before.TargetPodPhase)
		state.Phase = cmp.Or(opts.UpdatePodPhase, before.Phase)
		if state.Phase != before.Phase {
			state.stamp(now)
		}
		label(next, k.Phase, state.Phase)
		err = k.write(next, &state)
		if equality.Semantic.DeepEqual(&state, before) {
			next.Annotations[k.State] = pod.Annotations[k.State]
		}
	case len(opts.ContainerImages) > 0 && before != nil && before.Phase == InplaceUpdatePhaseFailed:
		state := *before
		state.Reason, state.Message = "", ""
		state.TargetImages, state.LastContainerStatuses, state.Containers = map[string]string{}, map[string]InplaceUpdateContainerStatus{}, nil
		state.carry(pod, before)
		state.TargetPodPhase = cmp.Or(opts.TargetPodPhase, before.TargetPodPhase)
		err = k.launch(next, &state, cmp.Or(opts.UpdatePodPhase, InplaceUpdatePhaseStarting), now)
	case len(opts.ContainerImages) > 0 && cmp.Or(opts.UpdatePodPhase, InplaceUpdatePhaseStarting) == InplaceUpdatePhaseStarting:
		err = k.shortcut(next, before, opts, now)
	case opts.TargetPodPhase != "" && opts.TargetPodPhase != pod.Labels[k.Phase]:
		if before != nil {
			state := &State{InplaceUpdateState: before.InplaceUpdateState}
			err = k.settle(next, state, opts.TargetPodPhase, now)
		} else {
			k.enter(next, opts.TargetPodPhase, now)
		}
	}
	if err != nil {
		return nil, false, err
	}
	return next, differs(pod, next), nil
}

// compare is the containers whose image differs from the wanted one. It finds every mistake, in the order of the
// containers' names, before anything is changed.
func compare(pod *corev1.Pod, images map[string]string) (map[string]string, error) {
	if len(images) == 0 {
		return nil, nil
	}
	if len(pod.Spec.Containers) == 0 {
		return nil, ErrNoContainers
	}
	differ := map[string]string{}
	var p problems
	for _, name := range slices.Sorted(maps.Keys(images)) {
		c, image := container(pod, name), images[name]
		switch {
		case image == "":
			p = append(p, fmt.Errorf("container %q: %w", name, ErrTargetImageIsRequired))
		case c == nil && isEphemeral(pod, name):
			p = append(p, fmt.Errorf("container %q: %w: add another one", name, ErrEphemeralContainer))
		case c == nil:
			p = append(p, fmt.Errorf("container %q: %w", name, ErrContainerNotFound))
		case !imageresolver.Same(c.Image, image):
			differ[name] = image
		}
	}
	return differ, p.err()
}

// successor is the state of an update of the containers in images, that follows the state before.
func (k Keys) successor(pod *corev1.Pod, before *State, images map[string]string) *State {
	s := &State{FromPodPhase: k.SandboxPhase(pod), FromImages: map[string]string{}}
	s.TargetImages, s.LastContainerStatuses = map[string]string{}, map[string]InplaceUpdateContainerStatus{}
	if before != nil && before.Phase != InplaceUpdatePhaseCompleted {
		s.FromPodPhase = before.FromPodPhase
		s.carry(pod, before)
	}
	for name, image := range images {
		if _, ok := s.FromImages[name]; !ok {
			s.FromImages[name] = container(pod, name).Image
		}
		s.TargetImages[name] = image
		s.replace(pod, before, name, image)
	}
	return s
}

// carry takes over what an unfinished update awaits, as far as nobody has changed the spec since.
func (s *State) carry(pod *corev1.Pod, before *State) {
	for name, image := range before.TargetImages {
		if c := container(pod, name); c == nil || !imageresolver.Same(c.Image, image) {
			continue
		}
		s.TargetImages[name] = image
		if from, ok := before.FromImages[name]; ok && s.FromImages != nil {
			s.FromImages[name] = from
		}
		if was, ok := before.LastContainerStatuses[name]; ok {
			s.LastContainerStatuses[name] = was
			s.keep(name, before.Containers[name])
		}
	}
}

// replace records what a container runs by, before its image becomes another. Its id is left out where the container
// may stay: an earlier update that isn't finished has not replaced it, and it was started by the very image that is
// wanted again.
func (s *State) replace(pod *corev1.Pod, before *State, name, image string) {
	now, by := last(pod, name), startedBy(pod, before, name)
	s.keep(name, StartedContainer{Image: by, ContainerID: now.ContainerID})
	if by != "" && imageresolver.Same(by, image) {
		now.ContainerID = ""
	}
	s.LastContainerStatuses[name] = now
}

func (s *State) keep(name string, c StartedContainer) {
	if c == (StartedContainer{}) {
		return
	}
	if s.Containers == nil {
		s.Containers = map[string]StartedContainer{}
	}
	s.Containers[name] = c
}

// startedBy is the image in the spec by which a container was started, empty if that can't be told. The spec has it
// while no update is under way. After that it is what was recorded of the container's id; of a container that was
// started since, it is the image that its status names, if that is one of the two that were in the spec.
func startedBy(pod *corev1.Pod, before *State, name string) string {
	c, s := container(pod, name), ContainerStatus(pod, name)
	if c == nil || s == nil {
		return ""
	}
	if before == nil || before.Phase == InplaceUpdatePhaseCompleted {
		return c.Image
	}
	was, ok := before.LastContainerStatuses[name]
	if !ok {
		return c.Image
	}
	recorded := before.Containers[name]
	if recorded.ContainerID == s.ContainerID || was.ContainerID == s.ContainerID {
		return recorded.Image
	}
	for _, image := range []string{c.Image, recorded.Image} {
		if image != "" && imageresolver.Same(s.Image, image) {
			return image
		}
	}
	return ""
}

// launch sets the target images on the pod and puts it in flight. k is Filled.
func (k Keys) launch(pod *corev1.Pod, s *State, phase string, now time.Time) error {
	for name, image := range s.TargetImages {
		if c := container(pod, name); c != nil && !imageresolver.Same(c.Image, image) {
			c.Image = image
		}
	}
	s.Phase, s.TargetImage, s.StableContainerStatuses = phase, "", nil
	if len(s.TargetImages) == 1 {
		for _, image := range s.TargetImages {
			s.TargetImage = image
		}
	}
	s.stamp(now)
	label(pod, k.Phase, phase)
	return k.write(pod, s)
}

// shortcut is an update of which every container runs its image already. Doing it twice changes nothing the second time.
func (k Keys) shortcut(pod *corev1.Pod, before *State, opts UpdateOptions, now time.Time) error {
	if pod.Status.Phase != corev1.PodRunning {
		return fmt.Errorf("update pod %s: %w: its images are the wanted ones already, and its phase is %q: want %s",
			name(pod), ErrPodNotRunning, pod.Status.Phase, corev1.PodRunning)
	}
	target := cmp.Or(opts.TargetPodPhase, SandboxPhaseRunning)
	stable, s := snapshot(pod, opts.ContainerImages), &State{}
	if before != nil && before.TargetPodPhase == target && pod.Labels[k.Phase] == target {
		if target != SandboxPhaseRunning || before.watches(stable) {
			return nil
		}
		*s = *before // but for the containers that others have taken the place of
		merged := maps.Clone(before.StableContainerStatuses)
		if merged == nil {
			merged = map[string]StableContainerStatus{}
		}
		maps.Copy(merged, stable)
		stable = merged
	}
	s.TargetPodPhase = target
	if err := k.settle(pod, s, target, now); err != nil {
		return err
	}
	if target != SandboxPhaseRunning {
		return nil
	}
	s.StableContainerStatuses = stable
	return k.write(pod, s)
}

// watches reports whether these very containers are those of which a restart would be unexpected.
func (s *State) watches(containers map[string]StableContainerStatus) bool {
	for name, is := range containers {
		if was, ok := s.StableContainerStatuses[name]; !ok || was.ContainerID != is.ContainerID {
			return false
		}
	}
	return true
}

// differs compares what a write may change.
func differs(a, b *corev1.Pod) bool {
	return !equality.Semantic.DeepEqual(a.ObjectMeta, b.ObjectMeta) || !equality.Semantic.DeepEqual(a.Spec, b.Spec)
}
