package timeline

// objects holds the living objects of a tape at one position, as bodies. The
// Writer compares with it, the Reader applies patches to it.
type objects struct {
	m   map[string]*living
	key []byte
}

// living is one object.
type living struct {
	resource, namespace, name, uid, rv string

	body    []byte // never written again once it stands here
	opening []byte // see opening; the Reader's
	patches int    // events since the last that carried the whole object
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
