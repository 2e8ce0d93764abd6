package media

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/replay"
)

// frameTypes counts the types of events that frames are kept of.
const frameTypes = 4

func frameType(t watch.EventType) (i int, ok bool) {
	switch t {
	case watch.Added:
		return 0, true
	case watch.Modified:
		return 1, true
	case watch.Deleted:
		return 2, true
	case watch.Bookmark:
		return 3, true
	}
	return 0, false
}

// Frame is an event as it is in the stream of a watch, its framing
// included. first says that nothing was in the stream before: a Table tells its
// columns there. A watcher shares its frame with other watchers and must not
// write to it.
//
// An error ends the stream, without a frame: the server does so with
// an object that it can't encode.
func (m *Maker) Frame(f Form, ev replay.Event, first bool) ([]byte, error) {
	t, ok := frameType(ev.Type)
	switch {
	case ev.Type == watch.Error:
		return errorFrame(f, ev)
	case !ok || ev.Object == nil:
		return nil, fmt.Errorf("a frame of %s: type %q without a meaning; want ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", m.resource, ev.Type)
	}
	var raw []byte
	if m.shift != nil && ev.Type != watch.Bookmark {
		// Here, since a memo can't be asked for while another is made.
		var err error
		if raw, err = m.raw(ev.Object); err != nil {
			return nil, err
		}
	}
	key := &m.frames[f.index()][t]
	if f.shape == table {
		return m.tableFrame(f, ev, first, raw, key)
	}
	if f.encoding == asProtobuf {
		return m.protobufFrame(f, ev, raw, key)
	}
	v, err := ev.Object.Memo(key, func(o *replay.Object) (any, error) {
		return m.frame(f, ev, raw, false)
	})
	if err != nil {
		return nil, err
	}
	return v.([]byte), nil
}

// Parts are Frame in pieces to be written one after the other, of which body may be
// the object's own text: nothing is copied, and nothing kept with the object.
func (m *Maker) Parts(f Form, ev replay.Event, first bool) (head, body, tail []byte, err error) {
	if t, ok := frameType(ev.Type); ok && ev.Type != watch.Bookmark && f.shape == whole && f.encoding == asJSON && ev.Object != nil {
		raw, err := m.raw(ev.Object)
		if err != nil {
			return nil, nil, nil, err
		}
		if bytes.HasPrefix(raw, m.opening) {
			return frameHeads[t], raw, frameTail, nil
		}
	}
	head, err = m.Frame(f, ev, first)
	return head, nil, nil, err
}

var (
	frameHeads = [...][]byte{
		appendFrameHead(nil, watch.Added), appendFrameHead(nil, watch.Modified), appendFrameHead(nil, watch.Deleted),
	}
	frameTail = []byte("}\n")
)

// frame makes a frame of JSON. raw is the object's shifted text, or nil.
func (m *Maker) frame(f Form, ev replay.Event, raw []byte, header bool) ([]byte, error) {
	if raw == nil {
		raw = ev.Object.Raw()
	}
	if ev.Type == watch.Bookmark && m.typed && (f.shape == whole || f.shape == table) {
		full, err := m.zeroed(raw)
		if err != nil {
			return nil, err
		}
		raw = full
	}
	if f.shape == whole {
		dst := appendFrameHead(make([]byte, 0, len(raw)+128), ev.Type)
		return append(appendWhole(dst, raw, m.resource), "}\n"...), nil
	}
	text, err := m.text(f, raw, header)
	if err != nil {
		return nil, err
	}
	dst := appendFrameHead(make([]byte, 0, len(text)+48), ev.Type)
	return append(append(dst, text...), "}\n"...), nil
}

func appendFrameHead(dst []byte, t watch.EventType) []byte {
	dst = append(append(dst, `{"type":"`...), t...)
	return append(dst, `","object":`...)
}

// zeroed is a bookmark of a built-in kind with the members that its Go type
// always writes: a server makes it of an empty object.
func (m *Maker) zeroed(raw []byte) ([]byte, error) {
	o, err := m.decode(raw)
	if err != nil {
		return nil, err
	}
	o.GetObjectKind().SetGroupVersionKind(m.kind)
	return json.Marshal(o)
}

func errorFrame(f Form, ev replay.Event) ([]byte, error) {
	if f.encoding == asProtobuf {
		body, err := statusProtobuf(ev.Status)
		if err != nil {
			return nil, err
		}
		return delimited(watch.Error, body)
	}
	dst := appendFrameHead(nil, watch.Error)
	return append(append(dst, statusText(ev.Status)...), "}\n"...), nil
}

// tableFrames keeps the frames of one event as a Table, for the second in which
// they were made.
type tableFrames struct{ first, later atomic.Pointer[tableFrame] }

type tableFrame struct {
	second int64
	bytes  []byte
}

func (m *Maker) tableFrame(f Form, ev replay.Event, first bool, raw []byte, key *slot) ([]byte, error) {
	v, err := ev.Object.Memo(key, func(*replay.Object) (any, error) { return new(tableFrames), nil })
	if err != nil {
		return nil, err
	}
	kept := &v.(*tableFrames).later
	if first {
		kept = &v.(*tableFrames).first
	}
	second := m.now().Unix()
	if t := kept.Load(); t != nil && t.second == second {
		return t.bytes, nil
	}
	text, err := m.frame(f, ev, raw, first)
	if err != nil {
		return nil, err
	}
	kept.Store(&tableFrame{second, text})
	return text, nil
}
