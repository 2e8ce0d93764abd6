package timeline

// objects holds the living objects of a tape at one position, as bodies. The
// Writer compares with it, the Reader applies patches to it.
type objects struct {
	m    map[string]*living
	key  []byte
	pack packer
}

// living is one object.
type living struct {
	resource, namespace, name, uid, rv string

	patches int  // events since the last that carried the whole object
	types   bool // see identity; the Writer's

	// The Writer keeps the body, or the packed body where there are many. The
	// Reader keeps the whole object, which it hands out as well, and where the
	// rest of the body after the identity starts in it. None of these bytes is
	// ever written again.
	body    []byte
	packed  []byte
	opening []byte // see opening
	whole   []byte
	rest    int
	waiting [][]byte // patches that the Reader has still to apply to whole
	grown   int      // their bytes
	chain   int      // of the last of them
}

// appendBody appends the body, whichever way it is kept.
func (l *living) appendBody(dst []byte) []byte {
	if l.body != nil {
		return append(dst, l.body...)
	}
	return append(append(dst, bodyStart...), l.whole[l.rest:]...)
}

func newObjects() *objects { return &objects{m: map[string]*living{}} }

// get finds an object by the words of a line, without allocating.
func (o *objects) get(resource, namespace, name string) *living {
	o.setKey(resource, namespace, name)
	return o.m[string(o.key)]
}

func (o *objects) setKey(resource, namespace, name string) {
	o.key = append(append(append(append(append(o.key[:0], resource...), 0), namespace...), 0), name...)
}

// put adds an object; one with the same names must be gone.
func (o *objects) put(l *living) {
	o.setKey(l.resource, l.namespace, l.name)
	o.m[string(o.key)] = l
}

func (o *objects) drop(l *living) {
	o.setKey(l.resource, l.namespace, l.name)
	delete(o.m, string(o.key))
}
