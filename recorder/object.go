package recorder

import (
	"github.com/nodesim/nodesim/internal/rawjson"
)

// object holds what is kept of one living object. The Writer keeps the state of
// what is on the tape; here only what is not on it (yet) has its bytes.
type object struct {
	id      string // UID, or namespace/name where there is none
	ns      string
	name    string
	uid     string
	version string
	onTape  bool
	queued  bool // waits in its resource's pending entries

	raw  []byte // whole and redacted; nil once it is on the tape
	view *view  // what the scope needs to know; nil without a scope
}

// identity is the part of an object's metadata that every event is filed by:
// raw JSON strings, quotes included.
type identity struct {
	ns, name, uid, version []byte
}

func identify(obj []byte) (id identity) {
	for c := rawjson.Object(rawjson.Get(obj, "metadata")); ; {
		name, value, ok := c.Next()
		if !ok {
			return id
		}
		switch string(name) {
		case "namespace":
			id.ns = value
		case "name":
			id.name = value
		case "uid":
			id.uid = value
		case "resourceVersion":
			id.version = value
		}
	}
}

// idOf returns what an object is filed by: its UID, or its names where a dump has
// none.
func idOf(id identity) string {
	if uid := text(id.uid); uid != "" {
		return uid
	}
	return text(id.ns) + "/" + text(id.name)
}

// bare returns the text between the quotes of a raw string. It allocates only
// where there are escapes; the result is for lookups.
func bare(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	for _, c := range raw {
		if c == '\\' {
			s, _ := rawjson.Unquote(raw)
			return []byte(s)
		}
	}
	return raw[1 : len(raw)-1]
}

func text(raw []byte) string { return string(bare(raw)) }
