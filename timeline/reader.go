package timeline

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"os"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// Reader reads a tape from its beginning, one event at a time. Its memory
// grows with the objects that are alive, not with the length of the tape.
//
// A Reader is for one goroutine.
type Reader struct {
	name    string
	lines   bool
	header  *Header
	docs    *documents
	words   rawjson.Words
	outline rawjson.Outline // of the line that is read
	alive   *objects
	closer  io.Closer

	resources map[string]Resource
	last      Event
	events    int
	end       *Event
	failed    error

	text          []byte // of the line that is read
	before, after []byte // bodies, see body

	patches func(Resource) bool // see HandOutPatches
	gaps    map[string]bool     // the words of resources between a GAP and its SYNC
}

// ReadOption changes how a Reader reads.
type ReadOption func(*Reader)

// Lines makes a Reader hand out events as they are on their lines: Object
// or Patch is set, never both, without the identity that is beside them,
// and UID only where the line has it. Nothing is put together, and what only
// a look at the object's earlier events can tell goes unchecked. For counting
// and searching.
func Lines() ReadOption { return func(r *Reader) { r.lines = true } }

// Name sets the name that errors call the tape by.
func Name(name string) ReadOption { return func(r *Reader) { r.name = name } }

// Closing has the Reader close c when it is closed.
func Closing(c io.Closer) ReadOption { return func(r *Reader) { r.closer = c } }

// Open opens the tape in a file. A tape compressed by gzip or zstd is
// recognised by its first bytes, whatever the file is called.
func Open(name string, opts ...ReadOption) (*Reader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(f, append([]ReadOption{Name(name)}, opts...)...)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.closer = both{r.closer, f}
	return r, nil
}

// both closes two things in order; the first may be nil.
type both [2]io.Closer

func (b both) Close() error {
	var first error
	if b[0] != nil {
		first = b[0].Close()
	}
	return errors.Join(first, b[1].Close())
}

// NewReader reads the header of a tape from rd and returns a Reader of its
// events. Closing the Reader doesn't close rd, unless [Closing] says so.
func NewReader(rd io.Reader, opts ...ReadOption) (*Reader, error) {
	r := &Reader{name: "(stream)", alive: newObjects(), resources: map[string]Resource{}}
	for _, o := range opts {
		o(r)
	}
	plain, closer, err := decompress(rd)
	if err != nil {
		return nil, r.place(err, 0)
	}
	if r.closer != nil {
		closer = both{closer, r.closer}
	}
	r.closer, r.docs = closer, newDocuments(plain)
	text, err := r.docs.header()
	if err == nil {
		var fail *Error
		if r.header, fail = parseHeader(text); fail != nil {
			err = fail
		}
	}
	if err != nil {
		err = r.place(err, r.docs.line)
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// place completes an error with the tape's name and the line.
func (r *Reader) place(err error, line int) error {
	var fail *Error
	if !errors.As(err, &fail) {
		return &Error{Name: r.name, Line: line, Found: oneLine(err), cause: err}
	}
	placed := *fail
	placed.Name = r.name
	if placed.Line > 0 {
		placed.Line += line - 1
	} else {
		placed.Line = line
	}
	return &placed
}

// Header returns the tape's header. The caller must not change it.
func (r *Reader) Header() *Header { return r.header }

// Line returns the line number of the event that Next returned last.
func (r *Reader) Line() int { return r.docs.line }

// HandOutPatches leaves the Object of an event nil where the tape has a patch and
// of accepts the resource: a caller that keeps of an object what a roll needs finds what has
// changed in Patch. Objects aren't put together then, which is most of the work of
// reading; everything is checked as before. DELETED may come with neither. Between
// a GAP and its SYNC objects come whole, since a reader may keep the last event of
// each alone. It is called before the first Next.
func (r *Reader) HandOutPatches(of func(Resource) bool) {
	r.patches, r.gaps = of, map[string]bool{}
}

// Next returns the next event, or io.EOF after the last one, or an *Error
// where the tape is bad; that error then comes again forever, since what
// follows a bad line can't be trusted.
//
// What a dying writer leaves at the end of a tape is no error; see [Reader.Torn].
func (r *Reader) Next() (Event, error) {
	if r.failed != nil {
		return Event{}, r.failed
	}
	ev, err := r.next()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			err = r.place(err, max(r.docs.line, 1))
		}
		r.failed = err
		return Event{}, err
	}
	return ev, nil
}

func (r *Reader) next() (Event, error) {
	text, isYAML, err := r.docs.next()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			r.docs.line = r.docs.read
		}
		return Event{}, err
	}
	raw, err := r.canonical(text, isYAML)
	if err != nil {
		return Event{}, err
	}
	l, fail := r.parseLine(raw)
	if fail != nil {
		return Event{}, fail
	}
	if !r.lines {
		l.keep()
	}
	if r.end != nil {
		return Event{}, fault("END as the last line", "%s after END", l.Type)
	}
	if l.At < r.last.At {
		return Event{}, fault("at least "+FormatAt(r.last.At), "at %q, which is before the line above", FormatAt(l.At))
	}
	r.last.At = l.At
	r.events++
	if l.Type == End {
		r.end = &Event{Events: l.Events}
	}
	if r.lines {
		return l.Event, nil
	}
	if l.Type.Object() {
		return r.whole(&l)
	}
	if l.Type == Sync || l.Type == Gap {
		if _, fail := r.resource(l.Resource); fail != nil {
			return Event{}, fail
		}
		if r.patches != nil {
			r.gaps[l.Resource] = l.Type == Gap
		}
	}
	return l.Event, nil
}

// canonical returns the text of one event as canonical JSON: in memory of its own where events are handed out as they are on
// their lines, and else good until the next line.
func (r *Reader) canonical(text []byte, isYAML bool) ([]byte, error) {
	if !isYAML {
		dst := r.text[:0]
		if r.lines {
			dst = make([]byte, 0, len(text))
		}
		raw, err := rawjson.CompactOutline(dst, text, &r.outline)
		if err == nil {
			r.text = raw
			return raw, nil
		}
		var syntax *rawjson.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fault(syntax.Wanted, "byte %d of the event is %s", syntax.Offset, syntax.Found)
		}
		return raw, err
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, fault("text", "a NUL byte")
	}
	n, fail := parseYAML(text)
	if fail != nil {
		return nil, fail
	}
	raw, fail := appendYAML(nil, n)
	if fail != nil {
		return nil, fail
	}
	r.outline.Read(raw)
	return raw, nil
}

// resource finds what the header says of a resource.
func (r *Reader) resource(key string) (Resource, *Error) {
	res, ok := r.resources[key]
	if !ok {
		if res, ok = r.header.Lookup(key); !ok {
			f := fault("one of the header's resources", "resource %.80q", key)
			f.Remedy = "add it to resources: in the header"
			return res, f
		}
		r.resources[key] = res
	}
	return res, nil
}

// whole puts the object of an event together and keeps its state.
func (r *Reader) whole(l *line) (Event, error) {
	res, fail := r.resource(l.Resource)
	if fail != nil {
		return Event{}, fail
	}
	o := r.alive.get(l.Resource, l.Namespace, l.Name)
	if fail := r.follows(l, o); fail != nil {
		return Event{}, fail
	}
	ev := l.Event
	if !l.hasObject && r.patches != nil && !r.gaps[l.Resource] && r.patches(res) {
		return r.later(l, o)
	}
	body, fail := r.body(l, o, res)
	if fail != nil {
		return Event{}, fail
	}
	ev.UID = l.UID
	if o == nil {
		id := identity{namespace: ev.Namespace, name: ev.Name, uid: ev.UID, rv: ev.RV, types: l.types}
		o = &living{resource: ev.Resource, namespace: ev.Namespace, name: ev.Name, uid: ev.UID, opening: opening(res, id, body)}
		r.alive.put(o)
	} else if l.hasObject {
		id := identity{namespace: o.namespace, name: o.name, uid: o.uid, types: l.types}
		o.opening = opening(res, id, body)
	}
	if o.patches++; l.hasObject {
		o.patches = 0
	}
	if ev.RV != "" {
		o.rv = ev.RV
	}
	ev.UID = o.uid
	o.whole, o.rest = join(o.opening, body, o.rv)
	o.waiting, o.grown, o.chain = nil, 0, 0
	ev.Object = o.whole
	if ev.Type == Deleted {
		r.alive.drop(o)
	}
	return ev, nil
}

// who names the object of a line.
func (l *line) who() string {
	if l.Namespace == "" {
		return l.Resource + " " + l.Name
	}
	return l.Resource + " " + l.Namespace + "/" + l.Name
}

// follows checks that a line may come after what is known of its object.
func (r *Reader) follows(l *line, o *living) *Error {
	switch {
	case l.Type == Added && o != nil:
		return fault("DELETED before that", "a second ADDED of %s, which is alive", l.who())
	case l.Type == Deleted && o == nil:
		return fault("ADDED before that", "DELETED of %s, which isn't there", l.who())
	case l.Type == Modified && o == nil && l.hasObject:
		return fault("ADDED before that", "MODIFIED of %s, which isn't there", l.who())
	}
	if fail := l.another(o); fail != nil {
		return fail
	}
	if o == nil && !l.hasObject {
		return fault("its object first", "a patch of %s, which isn't there", l.who())
	}
	if l.hasPatch {
		return allowed(l.patch)
	}
	return nil
}

// another refuses a line of an object with another UID than that of its name.
func (l *line) another(o *living) *Error {
	if o == nil || l.UID == "" || o.uid == "" || l.UID == o.uid {
		return nil
	}
	return fault("DELETED of the old one and ADDED of the new one", "%s of %s with uid %s, where uid %s is alive", l.Type, l.who(), l.UID, o.uid)
}

// body works out the object's new body from its line and its last state. The
// bytes are valid until the next call.
func (r *Reader) body(l *line, o *living, res Resource) ([]byte, *Error) {
	if l.hasObject {
		body, id, fail := split(r.after[:0], l.Object, l.object, res)
		if fail != nil {
			return nil, fail
		}
		r.after = body
		l.types = id.types
		for _, c := range [...]struct{ member, inside, beside string }{
			{"name", id.name, l.Name}, {"namespace", id.namespace, l.Namespace},
			{"uid", id.uid, l.UID}, {"resourceVersion", id.rv, l.RV},
		} {
			if c.member == "uid" && l.UID == "" {
				l.UID = id.uid
			} else if c.inside != "" && c.inside != c.beside {
				return nil, fault("the same as beside the object", "metadata.%s %q in the object", c.member, c.inside)
			}
		}
		return body, l.another(o) // the object itself may say so
	}
	r.before = o.appendBody(r.before[:0])
	if len(o.waiting) > 0 {
		r.after = rawjson.ApplyAll(r.after[:0], r.before, o.waiting...)
		r.before, r.after = r.after, r.before
	}
	if !l.hasPatch {
		return r.before, nil
	}
	r.after = rawjson.Apply(r.after[:0], r.before, l.Patch)
	body := r.after
	if len(body) > MaxPatched {
		if fail := patched(l.who(), o.patches+1, len(body)); fail != nil {
			return nil, fail
		}
	}
	if !bytes.HasPrefix(body, []byte(bodyStart)) {
		return nil, fault("metadata as an object", "a patch that removes it from %s", l.who())
	}
	return body, nil
}

// allowed refuses patches of what isn't part of a body.
func allowed(patch []rawjson.Part) *Error {
	top := patch
	for i := range patch {
		switch p := &patch[i]; p.Depth {
		case 2:
			top = patch[i:]
			switch string(p.Name) {
			case "kind", "apiVersion":
				return fault("a whole object", "a patch of %s", p.Name)
			}
		case 3:
			if string(top[0].Name) != "metadata" {
				continue
			}
			switch string(p.Name) {
			case "name", "namespace", "uid", "resourceVersion":
				return fault("it beside the patch", "a patch of metadata.%s", p.Name)
			}
		}
	}
	return nil
}

// All returns the rest of the tape's events as a sequence that ends after
// the last one or with the error that Next would return.
func (r *Reader) All() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			ev, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// Complete reports, once Next has returned io.EOF, whether the recorder
// stopped cleanly: an END is the last line and counts as many lines as
// there are.
func (r *Reader) Complete() bool {
	return r.end != nil && r.end.Events == r.events && r.docs.torn == ""
}

// Torn returns, once Next has returned io.EOF, what is wrong with the end of
// the tape in a few words, or "".
func (r *Reader) Torn() string {
	switch {
	case r.docs.torn != "":
		return r.docs.torn + " was dropped"
	case r.end != nil && r.end.Events != r.events:
		return "END counts " + plural(r.end.Events) + ", there are " + plural(r.events)
	}
	return ""
}

// Events returns how many events were read.
func (r *Reader) Events() int { return r.events }

// Close releases what the Reader holds, the file of [Open] included.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	c := r.closer
	r.closer = nil
	return c.Close()
}
