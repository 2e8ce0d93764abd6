package rawjson

import "bytes"

const (
	mostWords   = 1 << 14 // are held; then they are forgotten and gathered again
	longestWord = 300     // bytes of a text that is held
)

// Words decodes strings that come again and again, and holds each once: names,
// labels, reasons. It is bounded, so that no author of a document fills it. The
// zero value is ready.
type Words struct{ held map[string]string }

// Text returns the text of the string raw; ok is false where raw is none.
func (w *Words) Text(raw []byte) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	return w.Name(raw[1 : len(raw)-1])
}

// Name is Text of what is between the quotes, such as a member's name.
func (w *Words) Name(bare []byte) (text string, ok bool) {
	if text, ok = w.held[string(bare)]; ok {
		return text, true
	}
	if bytes.IndexByte(bare, '\\') >= 0 {
		return Unquote(append(append([]byte{'"'}, bare...), '"'))
	}
	text = string(bare)
	if len(text) > longestWord {
		return text, true
	}
	if w.held == nil {
		w.held = map[string]string{}
	} else if len(w.held) >= mostWords {
		clear(w.held)
	}
	w.held[text] = text
	return text, true
}

// Texts returns an object of strings as a map; members that are no strings are
// empty. It is never nil.
func (w *Words) Texts(raw []byte) map[string]string {
	m := map[string]string{}
	for c := Object(raw); ; {
		name, value, ok := c.Next()
		if !ok {
			return m
		}
		key, _ := w.Name(name)
		m[key], _ = w.Text(value)
	}
}
