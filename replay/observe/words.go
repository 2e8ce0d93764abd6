package observe

import (
	"bytes"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// wordsMost is the number of words held for others to share.
const wordsMost = 20_000

// Words are the texts of labels and annotations, each once: the nodes of a group have
// nearly all of theirs in common.
type words map[string]string

// texts decodes an object of strings.
func (w words) texts(raw []byte) map[string]string {
	m := map[string]string{}
	for name, value := range rawjson.Members(raw) {
		m[w.word(name)] = w.value(value)
	}
	return m
}

// value decodes a string; what is none is an empty one.
func (w words) value(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return w.word(raw[1 : len(raw)-1])
}

// word decodes what is between the quotes of a string.
func (w words) word(bare []byte) string {
	if first, is := w[string(bare)]; is {
		return first
	}
	s := string(bare)
	if bytes.IndexByte(bare, '\\') >= 0 {
		s, _ = rawjson.Unquote([]byte(`"` + s + `"`))
		return s
	}
	if len(w) >= wordsMost {
		clear(w)
	}
	w[s] = s
	return s
}
