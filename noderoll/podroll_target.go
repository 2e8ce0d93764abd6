package noderoll

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// podTarget says what the containers of a roll are to be. An explicit target is
// an image, or resources as Resources.String has them. Otherwise it is, for each
// container by its name, what an update was triggered to last, or what a pod was
// born with that no pod had before; until then nothing is on target.
type podTarget struct {
	explicit string
	auto     bool

	images    map[string]string
	resources map[string]Resources
	known     map[containerImage]bool
}

type containerImage struct{ container, image string }

func newPodTarget(t Target) podTarget {
	return podTarget{
		explicit: t.Image, auto: t.Image == "",
		images: map[string]string{}, resources: map[string]Resources{}, known: map[containerImage]bool{},
	}
}

func (t *podTarget) clone() podTarget {
	c := *t
	c.images, c.resources, c.known = maps.Clone(t.images), maps.Clone(t.resources), maps.Clone(t.known)
	return c
}

// met reports whether an instance is to be what the roll moves towards.
func (t *podTarget) met(p *instance) bool {
	if !t.auto {
		return slices.ContainsFunc(p.containers, func(c containerState) bool {
			return sameImage(c.image, t.explicit) || c.resources.String() == t.explicit
		})
	}
	aimed := false
	for i := range p.containers {
		c := &p.containers[i]
		if image, ok := t.images[c.name]; ok {
			if aimed = true; c.image != image {
				return false
			}
		}
		if resources, ok := t.resources[c.name]; ok {
			if aimed = true; c.resources != resources {
				return false
			}
		}
	}
	return aimed
}

// learn notes an image that a pod is to run; born says that the pod is new with
// it. It reports whether that is a new target.
func (t *podTarget) learn(container, image string, settled, born bool) bool {
	key := containerImage{container, image}
	known := t.known[key]
	if !known && len(t.known) < imagesMax {
		t.known[key] = true
	}
	if !settled || !t.auto || born && (known || !t.knows(container)) || t.images[container] == image || image == "" {
		return false
	}
	if _, has := t.images[container]; !has && len(t.images) >= imagesMax {
		return false
	}
	t.images[container] = image
	return true
}

// knows reports whether a container of this name is old: one that comes with a
// workload of its own has nothing to be updated from.
func (t *podTarget) knows(container string) bool {
	n := 0
	for k := range t.known {
		if k.container == container {
			n++
		}
	}
	return n > 1 // the new image is known by now
}

// resize notes resources that a pod is to run with.
func (t *podTarget) resize(container string, to Resources) bool {
	if was, has := t.resources[container]; !t.auto || has && was == to || !has && len(t.resources) >= imagesMax {
		return false
	}
	t.resources[container] = to
	return true
}

// settle finds what a roll that is under way at the first look moves towards: the
// image that an update names that is in flight, or of several images of one
// container the one that none has run for long.
func (t *podTarget) settle(pods []*instance) {
	if !t.auto {
		return
	}
	named := map[string]aged{}              // by container
	since := map[containerImage]time.Time{} // the longest that it runs anywhere
	for _, p := range pods {
		for container, image := range p.state.TargetImages {
			if p.state.inFlight() {
				named[container] = younger(named[container], aged{image, p.state.Updated})
			}
		}
		for i := range p.containers {
			c := &p.containers[i]
			key := containerImage{c.name, c.image}
			if at, known := since[key]; !known || at.IsZero() || !c.started.IsZero() && c.started.Before(at) {
				since[key] = c.started
			}
			if c.resizing {
				t.resources[c.name] = c.resources
			}
		}
	}
	images := map[string]int{}
	youngest := map[string]aged{}
	for key, at := range since {
		images[key.container]++
		if at.IsZero() {
			at = time.Unix(1<<40, 0) // runs nowhere yet: the youngest of all
		}
		youngest[key.container] = younger(youngest[key.container], aged{key.image, at})
	}
	for container, n := range images {
		if to, ok := named[container]; ok {
			t.images[container] = to.image
		} else if n > 1 {
			t.images[container] = youngest[container].image
		}
	}
}

// aged is an image and since when it is there.
type aged struct {
	image string
	since time.Time
}

// younger is the later one; of two at one time the one of the greater name.
func younger(a, b aged) aged {
	if a.image == "" || b.since.After(a.since) || b.since.Equal(a.since) && b.image > a.image {
		return b
	}
	return a
}

// String is the target for people.
func (t *podTarget) String() string {
	if !t.auto {
		return t.explicit
	}
	return configuration(t.images, t.resources)
}

// configuration writes images and resources: of one container alone without its
// name.
func configuration(images map[string]string, resources map[string]Resources) string {
	names := slices.Sorted(maps.Keys(images))
	for name := range resources {
		if _, both := images[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	parts := make([]string, 0, len(names))
	for _, name := range names {
		what := images[name]
		if r, ok := resources[name]; ok {
			what = strings.TrimSpace(what + " " + r.String())
		}
		if len(names) > 1 {
			what = name + "=" + what
		}
		parts = append(parts, what)
	}
	return strings.Join(parts, ", ")
}
