package rawjson

// outlined is how deep an Outline goes.
const outlined = 3

// Part is a member of an object.
type Part struct {
	Depth       int // 1 for the members of the whole text
	Name, Value []byte
}

// Outline lists the members of an object and of the objects in it, three deep, each
// before its own members. It saves reading a text again for what [CompactOutline] has
// come by.
type Outline struct {
	Parts []Part
	spans []partSpan
}

// partSpan is a Part while the text is still written.
type partSpan struct {
	depth       int
	name, value span
}

// mostParts bounds the memory that an Outline keeps for the next text.
const mostParts = 4096

// CompactOutline is [Compact], and sets o to the outline of the canonical form.
func CompactOutline(dst, src []byte, o *Outline) ([]byte, error) {
	if cap(o.spans) > mostParts {
		*o = Outline{}
	}
	o.spans, o.Parts = o.spans[:0], o.Parts[:0]
	dst, err := compact(compactor{src: src, dst: dst, outline: o})
	for _, s := range o.spans {
		if err == nil {
			o.Parts = append(o.Parts, Part{s.depth, dst[s.name.from+1 : s.name.to-1], dst[s.value.from:s.value.to]})
		}
	}
	return dst, err
}

// Read sets o to the outline of a canonical text.
func (o *Outline) Read(raw []byte) {
	o.Parts = o.Parts[:0]
	w := Walk(raw)
	o.read(&w, 1)
}

func (o *Outline) read(w *Walker, depth int) {
	for name := range w.Members() {
		at, from := len(o.Parts), w.i
		o.Parts = append(o.Parts, Part{Depth: depth, Name: name})
		if depth < outlined && w.AtObject() {
			o.read(w, depth+1)
		} else {
			w.Value()
		}
		o.Parts[at].Value = w.raw[from:w.i]
	}
}

// Inside returns the members of the object that is the i-th part, with theirs.
func (o *Outline) Inside(i int) []Part {
	end := i + 1
	for end < len(o.Parts) && o.Parts[end].Depth > o.Parts[i].Depth {
		end++
	}
	return o.Parts[i+1 : end]
}
