package timeline

import (
	"bytes"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// mostWaiting is the number of bytes of patches that wait for their object to be
// wanted, or twice the object's where that is more: they hold memory, and their lines
// with them.
const mostWaiting = 8 << 10

// later hands out a line without its object, whose patch is kept for when the
// object is wanted. What only the whole object can tell is found out at once.
func (r *Reader) later(l *line, o *living) (Event, error) {
	if l.RV != "" {
		o.rv = l.RV
	}
	ev := l.Event
	ev.UID = o.uid
	if l.hasPatch {
		prefix := chain(l)
		if last := len(o.waiting) - 1; prefix > 0 && prefix == o.chain && bytes.Equal(o.waiting[last][:prefix], l.Patch[:prefix]) {
			o.grown -= len(o.waiting[last])
			o.waiting = o.waiting[:last]
		}
		o.grown += len(l.Patch)
		most := len(o.whole) + o.grown // bytes that the object can have
		if o.grown > max(mostWaiting, 2*len(o.whole)) || removesMetadata(l.patch) ||
			most > MaxLine || most > MaxPatched && o.patches+1 >= keyframeEvery {
			body, fail := r.body(l, o, Resource{})
			if fail != nil {
				return Event{}, fail
			}
			o.whole, o.rest = join(o.opening, body, o.rv)
			o.waiting, o.grown, o.chain = nil, 0, 0
		} else {
			o.waiting, o.chain = append(o.waiting, l.Patch), prefix
		}
	}
	if o.patches++; l.Type == Deleted {
		r.alive.drop(o)
	}
	return ev, nil
}

// chain returns the number of bytes before the value of a patch that sets a single
// one, such as a heartbeat's conditions, and 0 for any other patch. Of two such
// patches in a row with the same text before it, the later one is all that counts.
func chain(l *line) int {
	if len(l.patch) != 2 || l.patch[1].Depth != 3 || rawjson.IsObject(l.patch[1].Value) || string(l.patch[1].Value) == "null" {
		return 0
	}
	return len(l.Patch) - len("}}") - len(l.patch[1].Value)
}

// removesMetadata reports whether a patch leaves no metadata that is an object.
func removesMetadata(patch []rawjson.Part) bool {
	for i := range patch {
		if p := &patch[i]; p.Depth == 2 && string(p.Name) == "metadata" {
			return !rawjson.IsObject(p.Value)
		}
	}
	return false
}
