package recorder

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/internal/mask"
	"github.com/nodesim/nodesim/timeline"
)

// syncEvery says how often a bookmark becomes a SYNC, at most.
const syncEvery = time.Minute

// tape is the output of a sequencer; *timeline.Writer is one.
type tape interface {
	Write(timeline.Event) error
}

// sequencer decides what goes on the tape: it knows, per resource, which objects are alive
// and how far the events were read, drops what comes twice, keeps what is out
// of scope back, and turns lists, events and bookmarks into lines. Recording
// and import are both made of it.
//
// It has no clock and starts no goroutine: positions come in as arguments and
// must never decrease. It must not be used by two goroutines at once. The
// first error of the tape is returned and ends its use.
type sequencer struct {
	tape   tape
	states []*resourceState
	scope  *scope // nil: everything is recorded
	// wrote, where set, is told of every line.
	wrote    func(timeline.Event)
	gapAtEnd bool // see Config.GapAtEnd
	// lines counts what was written by this sequencer.
	lines int
}

func newSequencer(h *timeline.Header, s *scope) *sequencer {
	l := &sequencer{scope: s}
	for _, r := range h.Resources {
		key := h.Key(r)
		l.states = append(l.states, &resourceState{key: key, res: r, alive: map[string]*object{}, stats: ResourceStats{Resource: key}})
	}
	if s != nil {
		s.states = l.states
	}
	return l
}

// tapeError is an error of the tape itself: the end of a recording.
type tapeError struct{ error }

func (e *tapeError) Unwrap() error { return e.error }

func (l *sequencer) write(ev timeline.Event) error {
	ev.Reason = mask.String(ev.Reason) // a server's words, which may name a URL
	if err := l.tape.Write(ev); err != nil {
		return &tapeError{err}
	}
	l.lines++
	if l.wrote != nil {
		l.wrote(ev)
	}
	return nil
}

// load makes an object known without writing it.
func (l *sequencer) load(t *resourceState, raw []byte) *object {
	o := l.know(t, identify(raw))
	o.raw = raw
	if l.scope != nil {
		l.scope.look(t, o, raw)
	}
	return o
}

// know returns the entry of the object with this identity, a new one where
// there is none.
func (l *sequencer) know(t *resourceState, id identity) *object {
	if o := t.find(id); o != nil {
		o.setVersion(id)
		return o
	}
	o := &object{ns: intern(t, text(id.ns)), name: text(id.name), uid: text(id.uid)}
	o.setVersion(id)
	if o.id = o.uid; o.id == "" {
		o.id = idOf(id)
	}
	t.alive[o.id] = o
	if t.names != nil {
		t.names[o.ns+"/"+o.name] = o
	}
	return o
}

func (o *object) setVersion(id identity) {
	if v := bare(id.version); string(v) != o.version {
		o.version = string(v)
	}
}

func (t *resourceState) find(id identity) *object {
	if uid := bare(id.uid); len(uid) > 0 {
		return t.alive[string(uid)]
	}
	return t.alive[text(id.ns)+"/"+text(id.name)]
}

// intern shares the namespaces of a track's objects: there are few.
func intern(t *resourceState, s string) string {
	if s == "" {
		return ""
	}
	if t.spaces == nil {
		t.spaces = map[string]string{}
	}
	if known, ok := t.spaces[s]; ok {
		return known
	}
	t.spaces[s] = s
	return s
}

// change takes in one event of a watch: raw is the whole object, redacted and
// canonical; the sequencer keeps it.
func (l *sequencer) change(at time.Duration, t *resourceState, typ timeline.Type, raw []byte) error {
	id := identify(raw)
	version := bare(id.version)
	if len(id.name) == 0 || len(version) == 0 {
		return fmt.Errorf("%s event of %s: found an object without name or resourceVersion", typ, t.key)
	}
	t.stats.Last = at
	if !newer(string(version), t.read) {
		t.stats.Repeats++
		return nil
	}
	a := arrival{typ: typ, version: string(version), raw: raw, id: id, until: at + patience}
	t.read = a.version
	if len(t.waiting) > 0 {
		t.waiting = append(t.waiting, a)
		return l.settle(at, t, false)
	}
	waits, err := l.take(at, t, a, false)
	if waits {
		t.waiting = append(t.waiting, a)
	}
	return err
}

// take decides about an event. One about an object that isn't there yet waits.
func (l *sequencer) take(at time.Duration, t *resourceState, a arrival, force bool) (waits bool, err error) {
	if a.raw == nil {
		return false, l.reached(at, t, a.version)
	}
	known := t.find(a.id)
	if l.scope != nil && isEvent(t.res) && known == nil && a.typ != timeline.Deleted {
		switch verdict := l.scope.judge(a.raw); {
		case verdict == undecided && !force:
			return true, nil
		case verdict != inside: // not even remembered
			t.stats.OutOfScope++
			t.settled = a.version
			return false, nil
		}
	}
	if err := l.admitEntries(at, t, a.version, known); err != nil {
		return false, err
	}
	if known == nil && t.names != nil && a.typ != timeline.Deleted {
		if err := l.replaced(at, t, a); err != nil {
			return false, err
		}
	}
	t.settled = a.version
	if a.typ == timeline.Deleted {
		return false, l.remove(at, t, known, a)
	}
	o := l.know(t, a.id)
	if l.scope != nil {
		l.scope.look(t, o, a.raw)
	}
	o.raw = a.raw
	if !o.onTape && l.scope != nil && !o.view.in {
		t.stats.OutOfScope++ // but kept: something else may bring it into scope
		return false, nil
	}
	return false, l.enter(at, t, o, a.version)
}

// enter writes an object's present state, ADDED where the tape doesn't have it.
func (l *sequencer) enter(at time.Duration, t *resourceState, o *object, version string) error {
	if l.scope != nil && !o.onTape && !o.view.in {
		return nil
	}
	typ := timeline.Modified
	if !o.onTape {
		typ = timeline.Added
		t.stats.Objects++
	}
	ev := timeline.Event{
		At: at, Type: typ, Resource: t.key, Namespace: o.ns, Name: o.name, UID: o.uid, RV: version, Object: o.raw,
	}
	if err := l.write(ev); err != nil {
		if typ == timeline.Added {
			t.stats.Objects--
		}
		o.queued, o.raw = false, nil
		return l.tooLarge(at, t, o, err)
	}
	o.onTape, o.queued, o.raw, o.version = true, false, nil, version
	t.stats.Events++
	t.written = highest(version, t.written)
	return nil
}

// remove writes a deletion that a watch has told of.
func (l *sequencer) remove(at time.Duration, t *resourceState, o *object, a arrival) error {
	if o == nil {
		if l.scope == nil {
			t.stats.Unknown++
		} else {
			t.stats.OutOfScope++
		}
		return nil
	}
	l.forget(t, o)
	if !o.onTape {
		if l.scope != nil { // else it was too large
			t.stats.OutOfScope++
		}
		return nil
	}
	t.stats.Objects--
	t.stats.Events++
	t.written = highest(a.version, t.written)
	ev := timeline.Event{
		At: at, Type: timeline.Deleted, Resource: t.key, Namespace: o.ns, Name: o.name, UID: o.uid, RV: a.version, Object: a.raw,
	}
	err := l.write(ev)
	if size := (*timeline.SizeError)(nil); errors.As(err, &size) { // its last state is left out, its end isn't
		ev.Object = nil
		return errors.Join(l.tooLarge(at, t, o, err), l.write(ev))
	}
	return err
}

// MarkTooLarge is the name of the MARK that says which state of an object is not on the tape because no reader would take it. Others may follow.
const MarkTooLarge = "too-large"

// tooLarge leaves a state of an object out that no tape can have, and says so on the tape: a user who may create such an object must not end
// the recording by it. It returns other errors as they are.
func (l *sequencer) tooLarge(at time.Duration, t *resourceState, o *object, err error) error {
	size := (*timeline.SizeError)(nil)
	if !errors.As(err, &size) {
		return err
	}
	t.stats.TooLarge++
	return l.write(timeline.Event{At: at, Type: timeline.Mark, Name: MarkTooLarge, Reason: t.key + " " + o.ns + "/" + o.name + ": " + size.Error()})
}

func (l *sequencer) forget(t *resourceState, o *object) {
	delete(t.alive, o.id)
	if n := o.ns + "/" + o.name; t.names != nil && t.names[n] == o {
		delete(t.names, n)
	}
	t.pendingEntries = slices.DeleteFunc(t.pendingEntries, func(e *object) bool { return e == o })
	if l.scope != nil {
		l.scope.forget(t, o)
	}
}

// bookmark takes in the news that everything up to a version was delivered.
func (l *sequencer) bookmark(at time.Duration, t *resourceState, version string) error {
	if version == "" || !newer(version, t.read) {
		return nil
	}
	t.read = version
	if len(t.waiting) > 0 {
		t.waiting = append(t.waiting, arrival{version: version, until: at})
		return l.settle(at, t, false)
	}
	return l.reached(at, t, version)
}

// reached is a bookmark that nothing waits before.
func (l *sequencer) reached(at time.Duration, t *resourceState, version string) error {
	if err := l.admitEntries(at, t, version, nil); err != nil {
		return err
	}
	t.settled = version
	if at-t.synced < syncEvery {
		return nil
	}
	return l.sync(at, t, version)
}

func (l *sequencer) sync(at time.Duration, t *resourceState, version string) error {
	t.synced = at
	t.gap = false
	t.written = highest(version, t.written)
	return l.write(timeline.Event{At: at, Type: timeline.Sync, Resource: t.key, RV: version})
}

// settle decides about what waits, in its order, as far as it can be decided,
// has waited long enough, or will not be waited for any longer.
func (l *sequencer) settle(at time.Duration, t *resourceState, giveUp bool) error {
	for len(t.waiting) > 0 {
		all := t.waiting
		t.waiting = nil // a GAP gives up on what waits: not on this one
		waits, err := l.take(at, t, all[0], giveUp || at >= all[0].until)
		if err != nil || waits {
			t.waiting = all
			return err
		}
		all[0] = arrival{}
		t.waiting = all[1:]
	}
	t.waiting = nil
	return nil
}

// tick lets time pass: it gives up on what has waited too long.
func (l *sequencer) tick(at time.Duration) error {
	for _, t := range l.states {
		if err := l.settle(at, t, false); err != nil {
			return err
		}
	}
	return nil
}

// end writes what is still owed, and END. A SYNC says how far each resource
// was read where that is further than what the tape shows; where gapAtEnd is
// set, a GAP follows for one whose watch is down.
func (l *sequencer) end(at time.Duration, reason string) error {
	for _, t := range l.states {
		if err := l.settle(at, t, true); err != nil {
			return err
		}
		if t.gap || !t.listed {
			continue
		}
		if err := l.admitEntries(at, t, t.settled, nil); err != nil {
			return err
		}
		t.stats.OutOfScope += len(t.pendingEntries)
		if t.settled != t.written && newer(t.settled, t.written) {
			if err := l.sync(at, t, t.settled); err != nil {
				return err
			}
		}
		if l.gapAtEnd && !t.stats.Connected && t.stats.Failure != "" {
			if err := l.lost(at, t, "the watch was down when the recording ended: "+t.stats.Failure); err != nil {
				return err
			}
		}
	}
	return l.write(timeline.Event{At: at, Type: timeline.End, Reason: reason})
}
