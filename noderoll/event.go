package noderoll

// EventKind classifies a step of a roll.
type EventKind string

// Transitions of a node, found by a Tracker.
const (
	EvtJoining    EventKind = "joining"    // appeared, not Ready yet
	EvtOnline     EventKind = "online"     // Ready and schedulable; also after an uncordon
	EvtDraining   EventKind = "draining"   // cordoned, or a removal taint; of a Feed, only once somebody drains it
	EvtNotReady   EventKind = "notready"   // was Ready before, as the same UID
	EvtTerminated EventKind = "terminated" // the Node object is gone
)

// Further kinds, which only a Feed knows.
const (
	EvtCordoned  EventKind = "cordoned"  // cordoned, or a removal taint, and nothing shows yet that anybody drains it
	EvtEvicted   EventKind = "evicted"   // a pod left a draining node
	EvtBlocked   EventKind = "blocked"   // budgets have held up a drain for BlockedAfter
	EvtUnblocked EventKind = "unblocked" // they don't any more
	EvtPressure  EventKind = "pressure"  // the pressure conditions of a node changed
	EvtWarning   EventKind = "warning"   // a Warning Event about a node, or from it
	EvtGap       EventKind = "gap"       // changes may be missing here
	EvtMark      EventKind = "mark"      // a named moment
	EvtComplete  EventKind = "complete"  // the roll is over, see Snapshot.Complete
	EvtFailed    EventKind = "failed"    // a controller said so
)

// What happens to the instances of a roll of pods. Such an entry names the pod as
// its Object. There joining, online, notready and terminated are of pods as well,
// and failed of a pod is a stuck update; see Feed.
const (
	EvtUpdating   EventKind = "updating"   // other images are asked for
	EvtUpdated    EventKind = "updated"    // they run, and the pod is Ready
	EvtRolledBack EventKind = "rolledback" // those of before the update run again
	EvtRestarted  EventKind = "restarted"  // a container was replaced by something that was no update
	EvtResizing   EventKind = "resizing"   // other resources are asked for
	EvtResized    EventKind = "resized"    // the containers run with them
	EvtDeferred   EventKind = "deferred"   // the node has no room for them now
	EvtInfeasible EventKind = "infeasible" // the node never has
)

// Default reports whether a feed shows this kind without being asked for all:
// transitions, blocked and unblocked, gap, mark, the end, and all kinds of a roll of pods. A kind not known here is not
// shown by default.
func (k EventKind) Default() bool {
	switch k {
	case EvtJoining, EvtOnline, EvtCordoned, EvtDraining, EvtNotReady, EvtTerminated,
		EvtBlocked, EvtUnblocked, EvtGap, EvtMark, EvtComplete, EvtFailed,
		EvtUpdating, EvtUpdated, EvtRolledBack, EvtRestarted, EvtResizing, EvtResized, EvtDeferred, EvtInfeasible:
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
