package noderoll

// EventKind classifies a step of a roll.
type EventKind string

// Transitions of a node, found by a Tracker.
const (
	EvtJoining    EventKind = "joining"    // appeared, not Ready yet
	EvtOnline     EventKind = "online"     // Ready and schedulable; also after an uncordon
	EvtDraining   EventKind = "draining"   // cordoned, or a removal taint
	EvtNotReady   EventKind = "notready"   // was Ready before, as the same UID
	EvtTerminated EventKind = "terminated" // the Node object is gone
)

// Further kinds, which only a Feed knows.
const (
	EvtEvicted   EventKind = "evicted"   // a pod left a draining node
	EvtBlocked   EventKind = "blocked"   // budgets have held up a drain for BlockedAfter
	EvtUnblocked EventKind = "unblocked" // they don't any more
	EvtPressure  EventKind = "pressure"  // the pressure conditions of a node changed
	EvtWarning   EventKind = "warning"   // a Warning Event about a node, or from it
	EvtGap       EventKind = "gap"       // changes may be missing here
	EvtMark      EventKind = "mark"      // a named moment
	EvtComplete  EventKind = "complete"  // the roll is over, see Snapshot.Complete
	EvtFailed    EventKind = "failed"    // somebody who knows said so
)

// Default reports whether a feed shows this kind without being asked for all:
// transitions, blocked, gap, mark, and the end. A kind not known here is not
// shown by default.
func (k EventKind) Default() bool {
	switch k {
	case EvtJoining, EvtOnline, EvtDraining, EvtNotReady, EvtTerminated,
		EvtBlocked, EvtGap, EvtMark, EvtComplete, EvtFailed:
		return true
	}
	return false
}

// Event is one transition of one node.
type Event struct {
	Node string    `json:"node"`
	Kind EventKind `json:"kind"`
}

// kindOf is the event of a node that came to this phase; empty for a phase that
// is not known.
func kindOf(p Phase) EventKind {
	switch p {
	case PhaseJoining:
		return EvtJoining
	case PhaseReady:
		return EvtOnline
	case PhaseDraining:
		return EvtDraining
	case PhaseNotReady:
		return EvtNotReady
	}
	return ""
}
