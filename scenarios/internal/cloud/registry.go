package cloud

// Registry is where images are pulled from, and what is known of what is in
// them.
type Registry struct {
	broken []broken
	spoilt []spoilt
}

// spoilt is an image whose program fails.
type spoilt struct {
	image  string
	mended *bool
}

type broken struct {
	image   string
	reason  string
	since   int // only on instances with at least this number
	healthy *bool
}

// Break makes pulls of an image fail on instances with at least a number; 0 is
// all. What it returns mends it.
func (r *Registry) Break(image, reason string, since int) (mend func()) {
	healthy := false
	r.broken = append(r.broken, broken{image, reason, since, &healthy})
	return func() { healthy = true }
}

// Pull tries to pull an image to an instance: it returns why that fails, or "".
func (r *Registry) Pull(i *Instance, image string) string {
	for _, b := range r.broken {
		if !*b.healthy && b.image == image && (i == nil || i.Number >= b.since) {
			return b.reason
		}
	}
	return ""
}

// Spoil has containers of an image crash that start from now on. What it returns
// mends it.
func (r *Registry) Spoil(image string) (mend func()) {
	mended := false
	r.spoilt = append(r.spoilt, spoilt{image, &mended})
	return func() { mended = true }
}

// Spoilt reports whether containers of an image crash.
func (r *Registry) Spoilt(image string) bool {
	for _, s := range r.spoilt {
		if !*s.mended && s.image == image {
			return true
		}
	}
	return false
}
