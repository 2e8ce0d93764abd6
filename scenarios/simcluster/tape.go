package simcluster

import (
	"bytes"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/s2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/timeline"
)

// A record is the tape of what has happened, in memory. It keeps no object: an
// actor's write is the patch that the actor made, a client's is the whole object. Of
// both it has what [timeline.FullRedaction] keeps, and of Secrets nothing. It grows
// with what happens: nothing bounds it but that its text is compressed.
type record struct {
	header  timeline.Header
	known   map[string]timeline.Resource // of the header, by the words of events
	writer  *timeline.Writer             // nil before the first line
	text    chunks
	waiting []timeline.Event // that aren't written yet
	bytes   int              // of the objects that wait
	refused map[string]bool  // resources that no tape has
	patches map[object]int   // since an object was on the tape as a whole
	failed  error
}

var redaction = timeline.FullRedaction()

type object struct {
	resource string
	types.NamespacedName
}

const (
	// mostWaiting bounds the events that wait for somebody who asks for the tape.
	// The start of a cluster is then not the start of its tape.
	mostWaiting = 4096

	// mostWaitingBytes bounds their objects: each may be of 3 MiB.
	mostWaitingBytes = 8 << 20

	// mostPatches is how many patches of an object may follow its last whole state
	// on a tape; see timeline.Writer.WriteLine.
	mostPatches = 99
)

func newRecord(h timeline.Header) *record {
	r := &record{patches: map[object]int{}, refused: map[string]bool{}, known: map[string]timeline.Resource{}}
	for _, resource := range h.Resources {
		if redaction.Refuses(resource) {
			r.refused[h.Key(resource)] = true
		}
	}
	h.Resources = slices.DeleteFunc(slices.Clone(h.Resources), redaction.Refuses)
	h.Redaction = slices.Compact(slices.Sorted(slices.Values(append(redaction.Paths(), h.Redaction...))))
	r.header = h
	return r
}

// lists reports whether the header has the resource of an event, or never will.
func (r *record) lists(resource string) bool {
	if resource == "" || r.refused[resource] {
		return true
	}
	_, listed := r.lookUp(resource)
	return listed
}

func (r *record) lookUp(resource string) (is timeline.Resource, listed bool) {
	if is, listed = r.known[resource]; listed {
		return is, true
	}
	if is, listed = r.header.Lookup(resource); listed {
		r.known[resource] = is
	}
	return is, listed
}

// list has the header list a resource that a client has defined.
func (r *record) list(resource timeline.Resource) {
	if r.writer != nil {
		r.writer.List(resource)
	}
	r.header.Resources = append(slices.Clone(r.header.Resources), resource)
}

// add takes an event. Its bytes must not change.
func (r *record) add(ev timeline.Event) {
	if r.refused[ev.Resource] {
		return
	}
	r.waiting = append(r.waiting, ev)
	r.bytes += len(ev.Object) + len(ev.Patch)
	if len(r.waiting) == mostWaiting || r.bytes >= mostWaitingBytes {
		r.write()
	}
}

// write writes what waits. Many a test never asks for the tape, and has no more than what waits.
func (r *record) write() {
	if r.writer == nil {
		r.writer, r.failed = timeline.NewWriter(&r.text, r.header)
		r.text = chunks{} // the header comes when the tape is asked for: clients define resources
	}
	for i := range r.waiting {
		if r.failed == nil {
			r.failed = r.line(r.waiting[i])
		}
		r.waiting[i] = timeline.Event{}
	}
	r.waiting, r.bytes = r.waiting[:0], 0
}

func (r *record) line(ev timeline.Event) error {
	if !ev.Type.Object() {
		return r.writer.Write(ev)
	}
	id := object{ev.Resource, types.NamespacedName{Namespace: ev.Namespace, Name: ev.Name}}
	if ev.Type != timeline.Added {
		ev.UID = ""
	}
	switch n := r.patches[id]; {
	case ev.Type == timeline.Deleted:
		delete(r.patches, id)
	case ev.Patch == nil:
		delete(r.patches, id)
	case n == mostPatches:
		ev.Patch = nil
		delete(r.patches, id)
	default:
		r.patches[id] = n + 1
	}
	kind, _ := r.lookUp(ev.Resource)
	var err error
	switch {
	case ev.Patch != nil: // a string is masked by itself, and a list is replaced as a whole: it fits what was redacted before
		ev.Object = nil
		ev.Patch, err = redaction.Redact(kind, ev.Patch)
	case ev.Object != nil:
		if ev.Object, err = redaction.Redact(kind, ev.Object); err == nil {
			ev.Object, err = r.writer.Body(ev.Object, kind)
		}
	}
	if err != nil {
		return err
	}
	return r.writer.WriteLine(ev)
}

// open reads what is on the tape now, which ends at a position.
func (r *record) open(at time.Duration) (io.Reader, error) {
	if r.write(); r.failed != nil {
		return nil, r.failed
	}
	header, err := r.header.MarshalText()
	if err != nil {
		return nil, err
	}
	end, err := r.writer.Ending(at, "complete")
	if err != nil {
		return nil, err
	}
	return io.MultiReader(bytes.NewReader(header), r.text.open(), bytes.NewReader(end)), nil
}

// chunks are text in memory, most of it compressed.
type chunks struct {
	packed [][]byte
	tail   []byte
	room   []byte // to pack in
}

const chunkBytes = 1 << 20

func (c *chunks) Write(p []byte) (int, error) {
	c.tail = append(c.tail, p...)
	if len(c.tail) >= chunkBytes {
		c.room = s2.Encode(c.room[:cap(c.room)], c.tail)
		c.packed = append(c.packed, bytes.Clone(c.room))
		c.tail = c.tail[:0]
	}
	return len(p), nil
}

// open reads the text as it is now.
func (c *chunks) open() io.Reader {
	return &unpacking{packed: c.packed, tail: bytes.Clone(c.tail)}
}

// unpacking reads chunks one after the other.
type unpacking struct {
	packed     [][]byte
	tail, text []byte
}

func (u *unpacking) Read(p []byte) (int, error) {
	for len(u.text) == 0 {
		switch {
		case len(u.packed) > 0:
			var err error
			if u.text, err = s2.Decode(nil, u.packed[0]); err != nil {
				return 0, err
			}
			u.packed = u.packed[1:]
		case len(u.tail) > 0:
			u.text, u.tail = u.tail, nil
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, u.text)
	u.text = u.text[n:]
	return n, nil
}
