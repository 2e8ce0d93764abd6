package cloud

import "slices"

// Volumes are the provider's disks: each is attached to one instance at most.
type Volumes struct {
	attached map[string]string // instance ID by volume
	stuck    []*stuck
	watchers []func(volume, instance string)
}

// Watch has f called after every attachment of a volume to an instance. It may take notes and put calls in the loop.
func (v *Volumes) Watch(f func(volume, instance string)) { v.watchers = append(v.watchers, f) }

// On returns the ID of the instance that a volume is attached to, or "".
func (v *Volumes) On(volume string) string { return v.attached[volume] }

// Attach attaches a volume that is free.
func (v *Volumes) Attach(volume, instance string) bool {
	if on := v.attached[volume]; on != "" && on != instance {
		return false
	}
	v.attached[volume] = instance
	for _, f := range v.watchers {
		f(volume, instance)
	}
	return true
}

// stuck says which volumes are: nil of is all of them.
type stuck struct{ of func(volume string) bool }

// Detach detaches a volume. It reports false where the volume is stuck, unless
// forced.
func (v *Volumes) Detach(volume string, force bool) bool {
	if !force && slices.ContainsFunc(v.stuck, func(s *stuck) bool { return s.of == nil || s.of(volume) }) {
		return false
	}
	delete(v.attached, volume)
	return true
}

// Stick makes detachments fail, of all volumes or of some, until end is called.
func (v *Volumes) Stick(of func(volume string) bool) (end func()) {
	some := &stuck{of}
	v.stuck = append(v.stuck, some)
	return func() { v.stuck = slices.DeleteFunc(v.stuck, func(s *stuck) bool { return s == some }) }
}
