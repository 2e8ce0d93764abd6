package rawjson

import "bytes"

// ApplyAll appends to dst what merge patches make of target one after the other. Each
// is an object. It is what as many calls of [Apply] come to, but target is read and
// written once: Apply's work is that of the whole object for the smallest patch.
func ApplyAll(dst, target []byte, patches ...[]byte) []byte {
	switch len(patches) {
	case 0:
		return append(dst, target...)
	case 1:
		return Apply(dst, target, patches[0])
	}
	b := open(target)
	for _, p := range patches {
		b.apply(p)
	}
	return b.append(dst)
}

// branch is an object that patches change.
type branch struct {
	members []leaf
	index   map[string]int // of the members that are there, where there are many
}

// leaf is a member of a branch. Its value is text until a patch changes what is inside
// of it.
type leaf struct {
	name, value []byte
	inside      *branch
	gone        bool // a later one of this name comes last
}

// open reads the members of an object. Any other value has none.
func open(raw []byte) *branch {
	b := &branch{}
	for c := Object(raw); ; {
		name, value, ok := c.Next()
		if !ok {
			return b
		}
		b.members = append(b.members, leaf{name: name, value: value})
	}
}

// find returns the member called name, or nil.
func (b *branch) find(name []byte) *leaf {
	if b.index == nil && len(b.members) <= fewChanges {
		for i := range b.members {
			if m := &b.members[i]; !m.gone && bytes.Equal(m.name, name) {
				return m
			}
		}
		return nil
	}
	if b.index == nil {
		b.index = make(map[string]int, len(b.members))
		for i := range b.members {
			if !b.members[i].gone {
				b.index[string(b.members[i].name)] = i
			}
		}
	}
	if i, found := b.index[string(name)]; found {
		return &b.members[i]
	}
	return nil
}

// add adds a member, which comes last.
func (b *branch) add(name []byte) *leaf {
	if b.index != nil {
		b.index[string(name)] = len(b.members)
	}
	b.members = append(b.members, leaf{name: name})
	return &b.members[len(b.members)-1]
}

func (b *branch) apply(patch []byte) {
	for c := Object(patch); ; {
		name, value, ok := c.Next()
		if !ok {
			return
		}
		m := b.find(name)
		if string(value) == "null" {
			if m != nil {
				m.gone = true
				delete(b.index, string(name))
			}
			continue
		}
		if m == nil {
			m = b.add(name)
		}
		if !IsObject(value) {
			m.value, m.inside = value, nil
			continue
		}
		if m.inside == nil {
			m.inside = open(m.value)
		}
		m.inside.apply(value)
	}
}

func (b *branch) append(dst []byte) []byte {
	dst = append(dst, '{')
	first := len(dst)
	for i := range b.members {
		m := &b.members[i]
		if m.gone {
			continue
		}
		dst = appendName(dst, first, m.name)
		if m.inside != nil {
			dst = m.inside.append(dst)
		} else {
			dst = append(dst, m.value...)
		}
	}
	return append(dst, '}')
}
