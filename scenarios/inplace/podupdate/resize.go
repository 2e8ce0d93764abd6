package podupdate

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Resources are the wanted resources by container: containers and init containers. Only cpu and memory can be changed in a
// living pod; what isn't named stays.
type Resources map[string]corev1.ResourceRequirements

// What can be wrong with resources, beside an ErrContainerNotFound. All of it is refused by the API server as well
// (k8s.io/kubernetes, pkg/apis/core/validation, ValidatePodResize).
var (
	// ErrNotResizable is a resource beside cpu and memory, a container that can't be resized, or a request above its
	// limit.
	ErrNotResizable = errors.New("resources can't be changed in place")
	// ErrQOSChange is a change by which the pod would be of another quality-of-service class.
	ErrQOSChange = errors.New("quality-of-service class would change")
)

// ApplyResize is the pod with other resources in its spec, as the subresource resize takes it, and whether that
// differs from the pod. With an error, next is nil.
func ApplyResize(pod *corev1.Pod, resources Resources) (next *corev1.Pod, changed bool, err error) {
	if pod == nil {
		return nil, false, ErrNoPod
	}
	if len(resources) > 0 && len(pod.Spec.Containers) == 0 {
		return nil, false, fmt.Errorf("resize pod %s: %w", name(pod), ErrNoContainers)
	}
	next = pod.DeepCopy()
	var p problems
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		if err := resize(next, name, resources[name]); err != nil {
			p = append(p, fmt.Errorf("container %q: %w", name, err))
		}
	}
	if before, after := qosClass(pod), qosClass(next); len(p) == 0 && before != after {
		p = append(p, fmt.Errorf("%w from %s to %s: a resize must keep it", ErrQOSChange, before, after))
	}
	if err := p.err(); err != nil {
		return nil, false, fmt.Errorf("resize pod %s: %w", name(pod), err)
	}
	return next, differs(pod, next), nil
}

func resize(pod *corev1.Pod, name string, want corev1.ResourceRequirements) error {
	c := container(pod, name)
	switch {
	case c == nil && isEphemeral(pod, name):
		return ErrEphemeralContainer
	case c == nil:
		return ErrContainerNotFound
	case len(want.Claims) > 0:
		return fmt.Errorf("%w: claims", ErrNotResizable)
	}
	requests, err := merged("requests", c.Resources.Requests, want.Requests)
	if err != nil {
		return err
	}
	limits, err := merged("limits", c.Resources.Limits, want.Limits)
	if err != nil {
		return err
	}
	for _, of := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, limit := requests[of], limits[of]
		if _, limited := limits[of]; limited && request.Cmp(limit) > 0 {
			return fmt.Errorf("%w: request of %s is %s: want at most its limit of %s", ErrNotResizable, of, request.String(), limit.String())
		}
	}
	c.Resources.Requests, c.Resources.Limits = requests, limits
	return nil
}

// merged is a list with other quantities. Equal ones stay as they are written.
func merged(field string, have, want corev1.ResourceList) (corev1.ResourceList, error) {
	if len(want) == 0 {
		return have, nil
	}
	list := maps.Clone(have)
	if list == nil {
		list = corev1.ResourceList{}
	}
	for _, of := range slices.Sorted(maps.Keys(want)) {
		quantity := want[of]
		if of != corev1.ResourceCPU && of != corev1.ResourceMemory {
			return nil, fmt.Errorf("%w: %s of %s: want cpu and memory alone", ErrNotResizable, field, of)
		}
		if quantity.Sign() < 0 {
			return nil, fmt.Errorf("%w: %s of %s is %s: want no less than 0", ErrNotResizable, field, of, quantity.String())
		}
		if old, ok := have[of]; !ok || old.Cmp(quantity) != 0 {
			list[of] = quantity
		}
	}
	return list, nil
}

// holds says whether a container's resources are the wanted ones, as far as those are named.
func holds(have, want corev1.ResourceRequirements) bool {
	within := func(have, want corev1.ResourceList) bool {
		for of, quantity := range want {
			if q, ok := have[of]; !ok || q.Cmp(quantity) != 0 {
				return false
			}
		}
		return true
	}
	return within(have.Requests, want.Requests) && within(have.Limits, want.Limits)
}

// Holds says whether the spec of a pod has these resources: whether a resize would change nothing.
func (r Resources) Holds(pod *corev1.Pod) bool {
	for name, want := range r {
		c := container(pod, name)
		if c == nil || !holds(c.Resources, want) {
			return false
		}
	}
	return true
}
