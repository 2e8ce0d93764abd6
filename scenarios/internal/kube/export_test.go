package kube

// JSON returns the object as a tape has it, without its identity.
func (b *Budget) JSON() []byte { return alone((*writer).budget, b) }
