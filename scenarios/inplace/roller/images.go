package roller

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// images is a roll of images.
type images struct{ roll Roll }

func (c images) holds(pod *corev1.Pod) (bool, error) {
	has := map[string]string{}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, container := range list {
			has[container.Name] = container.Image
		}
	}
	all := true
	for _, name := range slices.Sorted(maps.Keys(c.roll.Images)) {
		image, ok := has[name]
		if !ok {
			return false, fmt.Errorf("container %q: %w", name, podupdate.ErrContainerNotFound)
		}
		all = all && imageresolver.Same(image, c.roll.Images[name])
	}
	return all, nil
}

func (c images) read(pod *corev1.Pod) (record, error) {
	s, err := c.roll.Keys.Read(pod)
	if s == nil || err != nil {
		return record{}, err
	}
	r := record{
		phase: s.Phase, since: s.Since(), rollback: len(s.RolledBack) > 0, origin: len(s.FromImages) > 0,
		forsaken: s.Reason == ReasonForsaken,
	}
	for name, image := range c.roll.Images {
		if given, ok := s.RolledBack[name]; ok && imageresolver.Same(given, image) {
			r.gaveUp = true
		}
	}
	return r, nil
}

func (c images) progress(pod *corev1.Pod, now time.Time) (podupdate.Progress, error) {
	return c.roll.Keys.Progress(pod, c.roll.Digests, c.roll.Deadline, now)
}

func (c images) String() string {
	return pick(slices.Sorted(maps.Keys(c.roll.Images)), func(name string) string { return name + "=" + c.roll.Images[name] })
}
