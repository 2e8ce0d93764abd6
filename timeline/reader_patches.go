package timeline

import "github.com/nodesim/nodesim/internal/rawjson"

// mostWaiting is the number of bytes of patches that wait until they applied to their
// object, where that isn't larger: they hold memory, and their lines with them.
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
		o.grown += len(l.Patch)
		most := len(o.whole) + o.grown // bytes that the object can have
		if o.grown > max(mostWaiting, len(o.whole)) || removesMetadata(l.Patch) ||
			most > MaxLine || most > MaxPatched && o.patches+1 >= keyframeEvery {
			body, fail := r.body(l, o, Resource{})
			if fail != nil {
				return Event{}, fail
			}
			o.whole, o.rest = join(o.opening, body, o.rv)
			o.waiting, o.grown = nil, 0
		} else {
			o.waiting = append(o.waiting, l.Patch)
		}
	}
	if o.patches++; l.Type == Deleted {
		r.alive.drop(o)
	}
	return ev, nil
}

// removesMetadata reports whether a patch leaves no metadata that is an object.
func removesMetadata(patch []byte) bool {
	meta := rawjson.Get(patch, "metadata")
	return meta != nil && !rawjson.IsObject(meta)
}
