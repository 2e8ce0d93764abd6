package rawjson

import "iter"

// Walker reads a text from its beginning to its end, each byte once. Where a
// [Cursor] steps over a value before its caller looks into it, a Walker lets the
// caller choose: at each value it calls Members, Elements or Value, exactly one
// of them, and ranges to the end.
type Walker struct {
	raw []byte
	i   int
}

// Walk returns a Walker before the value raw.
func Walk(raw []byte) Walker { return Walker{raw: raw} }

// AtObject reports whether the next value is an object.
func (w *Walker) AtObject() bool { return w.i < len(w.raw) && w.raw[w.i] == '{' }

// Value steps over the next value and returns its text.
func (w *Walker) Value() []byte {
	from := w.i
	w.i = skip(w.raw, from)
	return w.raw[from:w.i]
}

// Members ranges over the names of the next value's members, spelt as they are. A
// value that is no object has none, and is stepped over.
func (w *Walker) Members() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if w.enter('{') {
			for first := true; w.more('}', first) && yield(w.name()); first = false {
			}
		}
	}
}

// Elements ranges over the elements of the next value. A value that is no array has
// none, and is stepped over.
func (w *Walker) Elements() iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		if w.enter('[') {
			for first := true; w.more(']', first) && yield(struct{}{}); first = false {
			}
		}
	}
}

// enter steps into an object or an array, or over anything else.
func (w *Walker) enter(bracket byte) bool {
	if w.i >= len(w.raw) || w.raw[w.i] != bracket {
		w.i = skip(w.raw, w.i)
		return false
	}
	w.i++
	return true
}

// more steps to the next member or element, or over the closing bracket.
func (w *Walker) more(closing byte, first bool) bool {
	if w.i >= len(w.raw) {
		return false
	}
	switch w.raw[w.i] {
	case closing:
		w.i++
		return false
	case ',':
		w.i++
		return true
	}
	return first
}

// name steps over a member's name and colon.
func (w *Walker) name() []byte {
	from := w.i
	if from >= len(w.raw) || w.raw[from] != '"' {
		return nil
	}
	end := skipString(w.raw, from)
	w.i = min(end+1, len(w.raw))
	return w.raw[from+1 : max(from+1, end-1)]
}
