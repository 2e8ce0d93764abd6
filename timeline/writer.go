package timeline

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/rawjson"
)

// keyframeEvery bounds how many events of an object may be on its last
// whole state, and so how far a damaged line can spoil what follows.
const keyframeEvery = 100

// Writer writes a tape, one event a line. It takes whole objects and works
// out by itself what can be said as a patch.
//
// A plain tape gets one write a line, so that whatever ends the program leaves
// whole lines and at most one torn one. A compressed tape is written a frame
// at a time: [Writer.Flush] ends a frame, and so does a mebibyte of lines.
//
// A Writer refuses what a Reader would: a time that goes back, a second ADDED
// of a living object, a change of one that isn't there, a line above 4 MiB.
// Such an error leaves the tape as it was, and the Writer usable. An error of
// the file is final. A Writer is for one goroutine.
type Writer struct {
	out       sink
	header    Header
	resources map[string]Resource
	alive     *objects
	last      Event
	events    int
	ended     bool
	resumed   bool // by Append: the header is complete
	failed    error

	line, canon, patch []byte
	outline            rawjson.Outline // of canon
}

// sink is where whole lines go.
type sink interface {
	line(p []byte) error
	flush() error
	sync() error
	close() error
	size() int64
	// unwritten counts the lines that were taken and are not in the file.
	unwritten() int
}

// NewWriter writes the header to w and returns a Writer of plain text.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	return start(&stream{w: w}, h)
}

// NewBlankWriter returns a Writer of no tape, for whom a recording is to be seen
// and not kept: it counts events and refuses times that go back, and holds no
// object.
func NewBlankWriter(h Header) (*Writer, error) { return start(nowhere{}, h) }

func start(out sink, h Header) (*Writer, error) {
	text, err := h.MarshalText()
	if err != nil {
		return nil, err
	}
	if _, fail := parseHeader(text); fail != nil {
		fail.Name = h.Metadata.Name
		return nil, fail
	}
	if len(text) > MaxBlock {
		return nil, fmt.Errorf("header of timeline %s of %d bytes: want at most 1 MiB", h.Metadata.Name, len(text))
	}
	w := newWriter(out, h)
	// The header counts only with the mark of a document after it, which
	// comes with the first event; a MARK-less tape of no events is completed
	// by Close.
	return w, out.line(text)
}

func newWriter(out sink, h Header) *Writer {
	return &Writer{out: out, header: h, resources: map[string]Resource{}, alive: newObjects()}
}

// Header returns the header that the tape was started with.
func (w *Writer) Header() *Header { return &w.header }

// List has the header list a further resource, whose events may come from now on.
// The header that was written stays as it is: who calls List has to write
// [Writer.Header] in its place.
func (w *Writer) List(r Resource) {
	w.header.Resources = append(slices.Clone(w.header.Resources), r)
}

// Events returns how many lines follow the header. Those of a compressed
// tape's open frame count, until writing it has failed.
func (w *Writer) Events() int { return w.events }

// Bytes returns the size of the tape, as far as it was handed to the file.
func (w *Writer) Bytes() int64 { return w.out.size() }

// Write appends one event. Of ev, Patch is ignored, and END's Events is
// filled in; END must be the last. A DELETED without Object leaves the last
// state as it was. The bytes of ev are not kept.
func (w *Writer) Write(ev Event) error {
	if w.failed != nil {
		return w.failed
	}
	if err := w.check(&ev); err != nil {
		return w.refuse(&ev, err)
	}
	commit := nothing
	if w.out != (nowhere{}) {
		var err error
		if commit, err = w.encode(&ev); err != nil {
			return w.refuse(&ev, err)
		}
	}
	if ev.Type == End {
		// END is in a frame of its own, where Append can cut it off.
		if err := w.out.flush(); err != nil {
			return w.fail(err)
		}
	}
	if err := w.out.line(w.line); err != nil {
		return w.fail(err)
	}
	commit()
	w.events++
	w.last = Event{At: ev.At}
	w.ended = ev.Type == End
	return nil
}

// refuse says which event has not become part of the tape.
func (w *Writer) refuse(ev *Event, err error) error {
	place := fmt.Sprintf("write event %d to timeline %s: ", w.events+1, w.header.Metadata.Name)
	for _, word := range []string{ev.Resource, ev.Namespace, ev.Name} {
		if word != "" {
			place += fmt.Sprintf("%.80s ", word)
		}
	}
	return fmt.Errorf("%s: %w", phrase.Escaped(strings.TrimRight(place, ": ")), err)
}

func (w *Writer) fail(err error) error {
	w.events -= w.out.unwritten() // their frame is lost
	w.failed = fmt.Errorf("write timeline %s: %w", w.header.Metadata.Name, err)
	return w.failed
}

func (w *Writer) check(ev *Event) error {
	switch {
	case w.ended:
		return errors.New("after END: append to the tape instead")
	case ev.At < w.last.At:
		return fmt.Errorf("at %s: want at least %s, the time of the event before", FormatAt(ev.At), FormatAt(w.last.At))
	case ev.At > maxAt:
		return fmt.Errorf("at %s: want at most %s", FormatAt(ev.At), FormatAt(maxAt))
	case ev.Type == "":
		return fmt.Errorf("no type: want %s", wantedTypes)
	case len(ev.Object) == 0 && (ev.Type == Added || ev.Type == Modified):
		return fmt.Errorf("%s of %s %s without its object", ev.Type, ev.Resource, ev.Name)
	}
	for i, m := range ev.Extra {
		if memberOf(m.Name) != 0 {
			return fmt.Errorf("extra member %q: want a name that the format has no meaning for", m.Name)
		}
		value, err := rawjson.Compact(nil, m.Value)
		if err != nil {
			return fmt.Errorf("extra member %q: %w", m.Name, err)
		}
		if i == 0 {
			ev.Extra = slices.Clone(ev.Extra) // the caller's stays as it is
		}
		ev.Extra[i].Value = value
	}
	if ev.Type == End {
		ev.Events = w.events + 1
	}
	return nil
}

func nothing() {}

var errUnlisted = errors.New("the header doesn't list this resource")

// encode puts the line of ev into w.line and returns what has to happen to
// the state once it is written.
func (w *Writer) encode(ev *Event) (commit func(), err error) {
	if !ev.Type.Object() {
		return nothing, w.plain(ev)
	}
	if w.alive == nil {
		return nil, errContinued
	}
	res, ok := w.resources[ev.Resource]
	if !ok {
		if res, ok = w.header.Lookup(ev.Resource); !ok {
			return nil, errUnlisted
		}
		w.resources[ev.Resource] = res
	}
	if ev.Type == Deleted && len(ev.Object) == 0 {
		return w.object(ev, nil, false)
	}
	if w.canon, err = rawjson.CompactOutline(w.canon[:0], ev.Object, &w.outline); err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	body, id, fail := split(nil, w.canon, w.outline.Parts, res)
	if fail != nil {
		return nil, fail
	}
	if err := w.identify(ev, id); err != nil {
		return nil, err
	}
	return w.object(ev, body, id.types)
}

// plain puts the line of an event that changes no object into w.line. One of a
// type that this version doesn't know may have an object or a patch all the same.
func (w *Writer) plain(ev *Event) error {
	if _, ok := w.header.Lookup(ev.Resource); !ok && (ev.Type == Sync || ev.Type == Gap) {
		return errUnlisted
	}
	if fail := (&line{Event: *ev}).check(mAt | mType | mEvents); fail != nil {
		return fail
	}
	var raw [2][]byte
	for i, value := range [...][]byte{ev.Object, ev.Patch} {
		if value == nil {
			continue
		}
		canon, err := rawjson.Compact(nil, value)
		if err == nil && !rawjson.IsObject(canon) {
			err = fault("an object", "%.40q", canon)
		}
		if err != nil {
			return err
		}
		raw[i] = canon
	}
	w.line = appendLine(w.line[:0], ev, ev.UID, raw[0], raw[1])
	return w.fits()
}

// identify fills in what the event leaves to its object, and refuses it where
// they differ.
func (w *Writer) identify(ev *Event, id identity) error {
	for _, c := range []struct {
		member string
		beside *string
		inside string
	}{
		{"name", &ev.Name, id.name}, {"namespace", &ev.Namespace, id.namespace},
		{"uid", &ev.UID, id.uid},
	} {
		if *c.beside == "" {
			*c.beside = c.inside
		} else if c.inside != "" && c.inside != *c.beside {
			return fmt.Errorf("metadata.%s is %q in the object and %q in the event", c.member, c.inside, *c.beside)
		}
	}
	if ev.RV == "" && ev.Type != Deleted {
		ev.RV = id.rv
	}
	switch {
	case ev.Name == "":
		return errors.New("no name")
	case ev.RV == "" && ev.Type != Deleted:
		return errors.New("no resourceVersion")
	}
	return nil
}

func (w *Writer) object(ev *Event, body []byte, types bool) (commit func(), err error) {
	o := w.alive.get(ev.Resource, ev.Namespace, ev.Name)
	switch {
	case ev.Type == Added && o != nil:
		return nil, errors.New("a second ADDED of a living object: want DELETED before it")
	case ev.Type != Added && o == nil:
		return nil, fmt.Errorf("%s of an object that isn't there: want ADDED before it", ev.Type)
	case o != nil && ev.UID != "" && o.uid != "" && ev.UID != o.uid:
		return nil, fmt.Errorf("%s of uid %s, where uid %s is alive: want DELETED of the old one and ADDED of the new one", ev.Type, ev.UID, o.uid)
	}
	var was []byte
	if o != nil {
		was = w.alive.state(o)
	}
	bare := body == nil // a deletion that leaves the last state as it is
	if bare {
		body = was
	} else if n := len(body) + overhead(ev); n > MaxLine { // however small the patch: the object has to fit on a line of its own
		return nil, &SizeError{What: "an object", Bytes: len(body)}
	}
	if o == nil {
		w.line = appendLine(w.line[:0], ev, ev.UID, body, nil)
		l := &living{resource: ev.Resource, namespace: ev.Namespace, name: ev.Name, uid: ev.UID, rv: ev.RV, types: types}
		return func() {
			w.alive.keep(l, body)
			w.alive.put(l)
		}, w.fits()
	}
	patch := w.patchOf(o, was, body, types)
	switch {
	case bare:
		w.line = appendLine(w.line[:0], ev, "", nil, nil)
	case patch == nil:
		w.line = appendLine(w.line[:0], ev, "", body, nil)
	case ev.Type == Deleted && string(patch) == "{}":
		w.line = appendLine(w.line[:0], ev, "", nil, nil)
	default:
		w.line = appendLine(w.line[:0], ev, "", nil, patch)
	}
	return func() {
		if ev.Type == Deleted {
			w.alive.drop(o)
			return
		}
		w.alive.keep(o, body)
		o.rv, o.types = ev.RV, types
		o.patches++
		if patch == nil {
			o.patches = 0
		}
	}, w.fits()
}

// patchOf returns the patch that makes body of o's state, which was that, or
// nil where the whole object has to be written: none is exact, none is
// smaller, or it is time for a keyframe.
func (w *Writer) patchOf(o *living, was, body []byte, types bool) []byte {
	if o.patches >= keyframeEvery-1 || types || o.types {
		return nil
	}
	patch, exact := rawjson.Diff(w.patch[:0], was, body)
	w.patch = patch
	if !exact || len(patch) >= len(body) {
		return nil
	}
	return patch
}

// overhead bounds what a line has beside its object: each byte of a name may be escaped by six.
func overhead(ev *Event) int {
	return 256 + 6*(len(ev.Resource)+len(ev.Namespace)+len(ev.Name)+len(ev.UID)+len(ev.RV))
}

func (w *Writer) fits() error {
	if len(w.line) > MaxLine {
		return &SizeError{What: "a line", Bytes: len(w.line)}
	}
	return nil
}

// A SizeError is of an event that a Writer refuses because no Reader would take it. The Writer may be used further: the event is not on the
// tape.
type SizeError struct {
	What  string // a line, or an object
	Bytes int
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s of %d bytes: want at most %d MiB", e.What, e.Bytes, MaxLine>>20)
}

// WriteAll writes a sequence of events up to its end or its first error.
func (w *Writer) WriteAll(events iter.Seq2[Event, error]) error {
	for ev, err := range events {
		if err != nil {
			return err
		}
		if err := w.Write(ev); err != nil {
			return err
		}
	}
	return nil
}

// Flush ends the frame of a compressed tape, so that all events so far are in
// the file. A plain tape has them there already.
func (w *Writer) Flush() error {
	if w.failed != nil {
		return w.failed
	}
	if err := w.out.flush(); err != nil {
		return w.fail(err)
	}
	return nil
}

// Sync is Flush and then fsync: once it has returned, the events so far
// survive the machine. Where the Writer writes to no file, it is Flush.
func (w *Writer) Sync() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if err := w.out.sync(); err != nil {
		return w.fail(err)
	}
	return nil
}

// Close flushes and closes the file. It writes no END: a tape without one
// says that its recorder was cut off. The Writer must not be used again.
func (w *Writer) Close() error {
	var err error
	if w.failed == nil {
		if w.events == 0 && !w.resumed {
			err = w.out.line([]byte("---\n"))
		}
		err = errors.Join(err, w.out.flush())
	}
	return errors.Join(err, w.out.close())
}
