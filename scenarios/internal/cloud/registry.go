package cloud

// Registry is where images are pulled from.
type Registry struct{ broken []broken }

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
