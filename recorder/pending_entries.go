package recorder

import (
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// Objects that come into scope without an event of their own (the pods of a
// node that gets its label late, a budget whose pods come into scope) are on
// no watch at that moment, and their versions are below what the tape has
// already: with those they would be missed by a client that resumes from there.
//
// So they wait for the next event or bookmark of their resource, at version
// N. Between the version settled before and N nothing of the resource has
// happened, so the numbers there are free, and the objects enter with the
// highest of them, one each. Where there are too few, the rest waits for the
// next one.

// admitEntries lets pending objects in before the event of version next takes effect. own
// is the object of that event, which needs no admission.
func (l *sequencer) admitEntries(at time.Duration, t *resourceState, next string, own *object) error {
	if len(t.pendingEntries) == 0 {
		return nil
	}
	queue := t.pendingEntries[:0]
	for _, o := range t.pendingEntries {
		if o != own && o.queued {
			queue = append(queue, o)
		}
	}
	t.pendingEntries = queue
	if own != nil {
		own.queued = false
	}
	for _, version := range free(t.settled, next, len(queue)) {
		o := t.pendingEntries[0]
		t.pendingEntries = t.pendingEntries[1:]
		o.raw = restamp(o.raw, version)
		if err := l.enter(at, t, o, version); err != nil {
			return err
		}
	}
	return nil
}

// free returns up to n versions between last and next, both exclusive, in
// ascending order: the highest ones. Where versions are no numbers there are
// none.
func free(last, next string, n int) []string {
	high, err := strconv.ParseUint(next, 10, 64)
	if err != nil {
		return nil
	}
	low, err := strconv.ParseUint(last, 10, 64)
	if err != nil || low+1 >= high {
		return nil
	}
	room := min(high-low-1, uint64(n))
	versions := make([]string, 0, room)
	for v := high - room; v < high; v++ {
		versions = append(versions, strconv.FormatUint(v, 10))
	}
	return versions
}

// restamp returns a copy of raw with another resourceVersion.
func restamp(raw []byte, version string) []byte {
	old := rawjson.Get(raw, "metadata", "resourceVersion")
	if old == nil {
		return raw
	}
	// old is a part of raw that reaches to the end of raw's capacity.
	i := cap(raw) - cap(old)
	out := append(make([]byte, 0, len(raw)+8), raw[:i]...)
	out = rawjson.AppendString(out, version)
	return append(out, raw[i+len(old):]...)
}
