package cloud

// Volumes are the provider's disks: each is attached to one instance at most.
type Volumes struct {
	attached map[string]string // instance ID by volume
	stuck    int
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

// Detach detaches a volume. It reports false where volumes are stuck, unless
// forced.
func (v *Volumes) Detach(volume string, force bool) bool {
	if v.stuck > 0 && !force {
		return false
	}
	delete(v.attached, volume)
	return true
}

// Stick makes all detachments fail, or ends that.
func (v *Volumes) Stick(begins bool) {
	if begins {
		v.stuck++
	} else {
		v.stuck--
	}
}
