package noderoll

import (
	"slices"
	"sync"
	"time"
)

// Tracker finds the transitions of nodes between successive snapshots.
//
// The first Observe only seeds it, so that attaching to a running roll replays
// nothing. Later each node that is new, or came to another phase, gives the
// event of that phase, in order of name; then each node that is gone gives
// terminated, in order of name. A node of the same name and another UID is
// another node: terminated, then the event of the new one. What happens between
// two snapshots is not seen.
//
// The zero Tracker is ready to use. Its methods may be called from several
// goroutines; the field Events may be read only while no observer runs.
type Tracker struct {
	// Events are the last transitions, oldest first: at least the last 1024
	// (or the Limit of the options), at most twice as many.
	Events []Event

	mu     sync.Mutex
	opts   TrackerOptions
	phases phaseTracker
	log    []TrackedEvent
	seq    uint64
}

// TrackerOptions change what NewTracker chooses.
type TrackerOptions struct {
	// Limit is the number of events kept at least; 0 means 1024.
	Limit int
	// Now stamps what Observe finds; without it the stamps are zero. ObserveAt
	// doesn't ask it.
	Now func() time.Time
}

// TrackedEvent is an Event with what its two fields have no room for.
type TrackedEvent struct {
	Event
	Seq  uint64 // 1 for the first event of the Tracker, without gaps
	Time time.Time
	UID  string // of the node, where the snapshot has one
}

const defaultLimit = 1024

// NewTracker returns an empty Tracker.
func NewTracker() *Tracker { return &Tracker{} }

// NewTrackerWithOptions returns an empty Tracker that stamps its events.
func NewTrackerWithOptions(opts TrackerOptions) *Tracker { return &Tracker{opts: opts} }

// Observe takes in a snapshot. Its nodes need not be sorted; the slice is not
// kept.
func (t *Tracker) Observe(s Snapshot) {
	var now time.Time
	if t.opts.Now != nil {
		now = t.opts.Now()
	}
	t.ObserveAt(now, s)
}

// ObserveAt is Observe at a given time.
func (t *Tracker) ObserveAt(now time.Time, s Snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.phases.observe(s.Nodes, func(node, uid string, kind EventKind) { t.append(now, node, uid, kind) })
}

// ObserveNode takes in one node and leaves all others as they were: the same as
// Observe with a snapshot that differs in this node only, without walking it.
// Before the first Observe it adds to the seed and gives no event.
func (t *Tracker) ObserveNode(now time.Time, v NodeView) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var old string
	if at, found := t.phases.find(v.Name); found {
		old = t.phases.nodes[at].uid
	}
	for _, kind := range t.phases.set(&v) {
		if kind == EvtTerminated {
			t.append(now, v.Name, old, kind)
		} else if kind != "" {
			t.append(now, v.Name, v.UID, kind)
		}
	}
}

// ObserveGone takes one node out: the same as Observe with a snapshot that
// lacks it.
func (t *Tracker) ObserveGone(now time.Time, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if uid, gone := t.phases.remove(name); gone {
		t.append(now, name, uid, EvtTerminated)
	}
}

func (t *Tracker) append(now time.Time, node, uid string, kind EventKind) {
	limit := t.opts.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	t.seq++
	e := Event{Node: node, Kind: kind}
	t.Events = append(bounded(t.Events, limit), e)
	t.log = append(bounded(t.log, limit), TrackedEvent{Event: e, Seq: t.seq, Time: now, UID: uid})
}

// bounded cuts a full slice to its last limit elements, in new memory: slices
// that Recent handed out before stay as they are.
func bounded[T any](s []T, limit int) []T {
	if len(s) < 2*limit {
		return s
	}
	return append(make([]T, 0, 2*limit), s[len(s)-limit:]...)
}

// Recent returns the last n events, oldest first, or all that are kept if n is
// not positive or exceeds them. The result shares memory with Events: don't
// write to it.
func (t *Tracker) Recent(n int) []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n <= 0 || n >= len(t.Events) {
		return t.Events
	}
	return t.Events[len(t.Events)-n:]
}

// Entries returns a copy of the kept events with stamps, oldest first.
func (t *Tracker) Entries() []TrackedEvent {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.log)
}
