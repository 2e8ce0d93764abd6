package recorder

import (
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// loadAll makes the lists known, Events last: what they are about decides
// about them.
func (l *sequencer) loadAll(lists [][]*object, raws [][][]byte) {
	for _, events := range []bool{false, true} {
		for i, t := range l.states {
			if isEvent(t.res) != events {
				continue
			}
			for j, raw := range raws[i] {
				raws[i][j] = nil
				if events && l.scope != nil && l.scope.judge(raw) != inside {
					t.stats.OutOfScope++
					continue
				}
				lists[i] = append(lists[i], l.load(t, raw))
			}
			raws[i] = nil
		}
	}
}

// unread is the version of a list that begin is to leave out: listed completes
// it.
const unread = "unread"

// listed ends an initial list whose objects were entered one by one.
func (l *sequencer) listed(t *resourceState, version string) error {
	t.listed = true
	t.read, t.settled = version, version
	return l.sync(0, t, version)
}

// begin writes the initial lists, each followed by its SYNC. The objects have
// been put into the tracks by load, and versions holds where each list was
// taken.
func (l *sequencer) begin(order [][]*object, versions []string) error {
	for i, t := range l.states {
		if versions[i] == unread {
			continue
		}
		for _, o := range order[i] {
			if err := l.enter(0, t, o, o.version); err != nil {
				return err
			}
		}
		t.pendingEntries = nil
		t.listed = true
		if versions[i] == "" { // a dump that has no list of it
			continue
		}
		t.read, t.settled = versions[i], versions[i]
		if err := l.sync(0, t, versions[i]); err != nil {
			return err
		}
	}
	return nil
}

// late writes an initial list that is known only now.
func (l *sequencer) late(at time.Duration, t *resourceState, items [][]byte, version string) error {
	for _, raw := range items {
		if l.scope != nil && isEvent(t.res) && l.scope.judge(raw) != inside {
			t.stats.OutOfScope++
			continue
		}
		o := l.load(t, raw)
		if err := l.enter(at, t, o, o.version); err != nil {
			return err
		}
	}
	t.read, t.settled, t.listed = version, version, true
	return l.sync(at, t, version)
}

// lost writes a GAP: events from here on may be missing. What waits is
// decided first, since it came before.
func (l *sequencer) lost(at time.Duration, t *resourceState, reason string) error {
	if err := l.settle(at, t, true); err != nil {
		return err
	}
	if t.gap {
		return nil
	}
	t.gap, t.why = true, reason
	t.stats.Gaps++
	return l.write(timeline.Event{At: at, Type: timeline.Gap, Resource: t.key, RV: t.read, Reason: reason})
}

// relisted closes a gap with what a new list has found: what is gone (DELETED
// without a version, since no watch saw it), then what is new or different, in
// the order of the list, then SYNC.
//
// Here holds the ids (see idOf) of everything listed; items, what of it may be
// new or different.
func (l *sequencer) relisted(at time.Duration, t *resourceState, here map[string]bool, items [][]byte, version string) error {
	var gone []*object
	for id, o := range t.alive {
		if !here[id] {
			gone = append(gone, o)
		}
	}
	slices.SortFunc(gone, func(a, b *object) int {
		if c := strings.Compare(a.ns, b.ns); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	for _, o := range gone {
		l.forget(t, o)
		if !o.onTape {
			continue
		}
		if err := l.gone(at, t, o); err != nil {
			return err
		}
	}
	var changed []*object
	for _, raw := range items {
		id := identify(raw)
		if o := t.find(id); o != nil && o.version == string(bare(id.version)) && o.onTape {
			continue
		}
		if l.scope != nil && isEvent(t.res) && t.find(id) == nil && l.scope.judge(raw) != inside {
			t.stats.OutOfScope++
			continue
		}
		changed = append(changed, l.load(t, raw))
	}
	changed = append(changed, t.pendingEntries...)
	t.pendingEntries = nil
	for _, o := range changed {
		if o.raw == nil { // an entrant that was in the list as well
			continue
		}
		if err := l.enter(at, t, o, o.version); err != nil {
			return err
		}
	}
	t.read, t.settled, t.listed = version, version, true
	return l.sync(at, t, version)
}

// replaced makes room for an object whose name another one still has: the
// deletion of that one is missing in the dump, and who knows what else.
func (l *sequencer) replaced(at time.Duration, t *resourceState, a arrival) error {
	old := t.names[text(a.id.ns)+"/"+text(a.id.name)]
	if old == nil {
		return nil
	}
	l.forget(t, old)
	if !old.onTape {
		return nil
	}
	if err := l.lost(at, t, "the deletion of "+old.name+" is missing: its name has another UID from here on"); err != nil {
		return err
	}
	if err := l.gone(at, t, old); err != nil {
		return err
	}
	return l.sync(at, t, highest(t.settled, t.written))
}

// gone writes the deletion of an object whose deletion no watch saw: without a version.
func (l *sequencer) gone(at time.Duration, t *resourceState, o *object) error {
	t.stats.Objects--
	t.stats.Events++
	return l.write(timeline.Event{At: at, Type: timeline.Deleted, Resource: t.key, Namespace: o.ns, Name: o.name, UID: o.uid})
}
