package timeline

import "github.com/klauspost/compress/s2"

// packFrom is the number of objects alive when a Writer begins to pack their
// bodies. A hundred nodes are kept as they are, since packing costs a few
// microseconds an event; 150,000 pods would take 350 MB, and are nearly alike.
const packFrom = 10_000

// packer compresses bodies with a dictionary for each resource, which is one
// of the resource's own objects.
type packer struct {
	dicts   map[string]*s2.Dict
	scratch []byte // of encoding
	plain   []byte // of decoding
}

// keep makes body the state of l, which is one of o or about to be.
func (o *objects) keep(l *living, body []byte) {
	l.body, l.packed = body, nil
	if len(o.m) < packFrom {
		return
	}
	d := o.pack.dict(l.resource, body)
	if d == nil {
		return
	}
	o.pack.scratch = d.Encode(o.pack.scratch[:0], body)
	if len(o.pack.scratch) < len(body) {
		l.body, l.packed = nil, append(make([]byte, 0, len(o.pack.scratch)), o.pack.scratch...)
	}
}

// state returns the body of l. The bytes are valid until the next call.
func (o *objects) state(l *living) []byte {
	if l.packed == nil {
		return l.body
	}
	plain, err := o.pack.dicts[l.resource].Decode(o.pack.plain[:0], l.packed)
	if err != nil {
		// What Encode has made in this process Decode reads; an empty state
		// makes the Writer write the whole object.
		return []byte("{}")
	}
	o.pack.plain = plain
	return plain
}

// dict returns the dictionary of a resource, made of body where it is the
// first; nil where that is too small to be one.
func (p *packer) dict(resource string, body []byte) *s2.Dict {
	if d := p.dicts[resource]; d != nil {
		return d
	}
	d := s2.MakeDict(body, nil)
	if d == nil {
		return nil
	}
	if p.dicts == nil {
		p.dicts = map[string]*s2.Dict{}
	}
	p.dicts[resource] = d
	return d
}
