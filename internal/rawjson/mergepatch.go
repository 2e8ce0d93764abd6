package rawjson

import "bytes"

// Diff appends to dst the merge patch (RFC 7386) that turns the object from
// into the object to, "{}" where they are equal. A merge patch can't say
// everything: null inside an object means removal, so a state that holds a
// null of its own can't be reached by one, and exact is false; dst then comes
// back as it was. Nulls inside arrays are fine, since arrays are replaced whole.
func Diff(dst, from, to []byte) (_ []byte, exact bool) {
	n := len(dst)
	dst, exact = diff(dst, from, to)
	if !exact {
		return dst[:n], false
	}
	return dst, true
}

func diff(dst, from, to []byte) (_ []byte, exact bool) {
	dst = append(dst, '{')
	first := len(dst)
	// Both sides mostly come from one encoder and so in one order: old walks
	// along with new, and a look-up is the exception.
	old := lookup{Cursor: Object(from)}
	matched := 0
	for c := Object(to); ; {
		if c.same(&old.Cursor) {
			matched++
			continue
		}
		name, value, ok := c.Next()
		if !ok {
			break
		}
		oldValue, found := old.find(name)
		if found {
			matched++
			if bytes.Equal(oldValue, value) {
				continue
			}
		}
		dst = appendName(dst, first, name)
		switch {
		case found && IsObject(oldValue) && IsObject(value):
			if dst, exact = diff(dst, oldValue, value); !exact {
				return dst, false
			}
		case holdsNull(value):
			return dst, false
		default:
			dst = append(dst, value...)
		}
	}
	if matched < count(from) {
		left := lookup{Cursor: Object(to)}
		for c := Object(from); ; {
			name, _, ok := c.Next()
			if !ok {
				break
			}
			if _, found := left.find(name); !found {
				dst = append(appendName(dst, first, name), "null"...)
			}
		}
	}
	return append(dst, '}'), true
}

func count(raw []byte) (n int) {
	for c := Object(raw); ; n++ {
		if _, _, ok := c.Next(); !ok {
			return n
		}
	}
}

// holdsNull reports whether raw is null or an object with a null in it, at
// any depth outside of arrays.
func holdsNull(raw []byte) bool {
	if !IsObject(raw) {
		return string(raw) == "null"
	}
	if !bytes.Contains(raw, []byte("null")) {
		return false
	}
	for c := Object(raw); ; {
		_, v, ok := c.Next()
		if !ok {
			return false
		}
		if holdsNull(v) {
			return true
		}
	}
}

// appendName appends a member's name and colon, with a comma unless it is the
// first of the object whose members start at first.
func appendName(dst []byte, first int, name []byte) []byte {
	if len(dst) > first {
		dst = append(dst, ',')
	}
	dst = append(append(append(dst, '"'), name...), '"', ':')
	return dst
}

// Apply appends to dst what the merge patch makes of target, as RFC 7386 has
// it: members of target keep their place, new ones come last.
func Apply(dst, target, patch []byte) []byte {
	if !IsObject(patch) {
		return append(dst, patch...)
	}
	if !IsObject(target) {
		target = []byte("{}")
	}
	var room [8]change
	p := changes{all: room[:0]}
	for c := Object(patch); ; {
		name, value, ok := c.Next()
		if !ok {
			break
		}
		p.all = append(p.all, change{name: name, value: value})
	}
	dst = append(dst, '{')
	first := len(dst)
	left := len(p.all)
	c := Object(target)
	for left > 0 {
		name, value, ok := c.Next()
		if !ok {
			break
		}
		ch := p.pick(name)
		switch {
		case ch == nil:
			dst = append(appendName(dst, first, name), value...)
			continue
		case string(ch.value) == "null":
		default:
			dst = Apply(appendName(dst, first, name), value, ch.value)
		}
		ch.done = true
		left--
	}
	// Nothing more will change: the rest of target is copied in one piece.
	if i := c.Offset(); i < len(target)-1 {
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = append(dst, target[i:len(target)-1]...)
	}
	for i := range p.all {
		ch := &p.all[i]
		if !ch.done && string(ch.value) != "null" {
			dst = Apply(appendName(dst, first, ch.name), nil, ch.value)
		}
	}
	return append(dst, '}')
}
