package rawjson

import "bytes"

// Names are looked up in objects whose size and order are at the mercy of
// any author. Looking through all members for each name is fastest for
// the few that a real object has, and takes minutes where there are 100,000; so
// after a few looks there is an index.

// fewScans is the number of times that an object is read from its beginning before it is
// indexed.
const fewScans = 4

// lookup finds members of an object by name, fastest in the object's order.
type lookup struct {
	Cursor // before the member that is looked at first

	scans int
	index map[string]int // offsets of the members, once there were many scans
}

// find returns the value of the member called name, and continues after it. The
// name has to be spelt as it is in the object.
func (l *lookup) find(name []byte) (value []byte, found bool) {
	ahead := l.Cursor
	if n, v, ok := ahead.Next(); ok && bytes.Equal(n, name) {
		l.Cursor = ahead
		return v, true
	}
	if l.index == nil && l.scans == fewScans {
		l.build()
	}
	if l.index != nil {
		i, known := l.index[string(name)]
		if !known {
			return nil, false
		}
		l.i = i
		_, value, _ = l.Next()
		return value, true
	}
	l.scans++
	for again := (Cursor{raw: l.raw, i: 1}); ; {
		n, v, ok := again.Next()
		if !ok {
			return nil, false
		}
		if bytes.Equal(n, name) {
			l.Cursor = again
			return v, true
		}
	}
}

func (l *lookup) build() {
	l.index = map[string]int{}
	for c := (Cursor{raw: l.raw, i: 1}); ; {
		i := c.i
		name, _, ok := c.Next()
		if !ok {
			return
		}
		l.index[string(name)] = i
	}
}

// change is one member of a patch, and whether it has been applied.
type change struct {
	name, value []byte
	done        bool
}

// fewChanges is up to how many members of a patch are looked through one by one.
const fewChanges = 16

// changes are the members of a patch, in its order.
type changes struct {
	all   []change
	next  int            // the one after the last that was picked
	index map[string]int // of all, where there are many
}

// pick returns the change of the member called name that hasn't been applied,
// or nil.
func (p *changes) pick(name []byte) *change {
	if len(p.all) <= fewChanges {
		for i := range p.all {
			if ch := &p.all[i]; !ch.done && bytes.Equal(ch.name, name) {
				return ch
			}
		}
		return nil
	}
	if p.next < len(p.all) {
		if ch := &p.all[p.next]; !ch.done && bytes.Equal(ch.name, name) {
			p.next++
			return ch
		}
	}
	if p.index == nil {
		p.index = make(map[string]int, len(p.all))
		for i := range p.all {
			p.index[string(p.all[i].name)] = i
		}
	}
	i, known := p.index[string(name)]
	if !known || p.all[i].done {
		return nil
	}
	p.next = i + 1
	return &p.all[i]
}
