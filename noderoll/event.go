package noderoll

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

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
	EvtRequested EventKind = "requested" // a NodeClaim or Machine was created, and has no node yet
	EvtDrifted   EventKind = "drifted"   // a NodeClaim or Machine isn't what its owner asks for any more
	EvtMachine   EventKind = "machine"   // any other step of a NodeClaim or Machine, or what it waits for
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
// transitions, blocked and unblocked, requested and drifted, gap, mark, the end, and all kinds of a roll of pods. A kind not known here is not
// shown by default.
func (k EventKind) Default() bool {
	switch k {
	case EvtJoining, EvtOnline, EvtCordoned, EvtDraining, EvtNotReady, EvtTerminated,
		EvtBlocked, EvtUnblocked, EvtRequested, EvtDrifted, EvtGap, EvtMark, EvtComplete, EvtFailed,
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

// EventRecord holds what a roll needs to know of an Event object, of core/v1 or
// events.k8s.io.
type EventRecord struct {
	Namespace string // of the Event itself; Events about nodes live in "default"
	Name      string
	UID       string
	Type      string // "Warning", "Normal", or empty

	Kind            string // of the involved object
	ObjectNamespace string
	ObjectName      string
	// Host is the node from which the Event was sent: source.host, or the
	// reporting instance where the new API leaves the source empty.
	Host string

	Reason  string
	Message string
	// Time is when it happened last: the latest of the series' last
	// observation, lastTimestamp and eventTime. Zero if the Event has none.
	Time time.Time
}

// EventRecordFrom extracts what a roll needs from an Event object.
func EventRecordFrom(o *corev1.Event) EventRecord {
	r := EventRecord{
		Namespace:       o.Namespace,
		Name:            o.Name,
		UID:             string(o.UID),
		Type:            o.Type,
		Kind:            o.InvolvedObject.Kind,
		ObjectNamespace: o.InvolvedObject.Namespace,
		ObjectName:      o.InvolvedObject.Name,
		Host:            o.Source.Host,
		Reason:          o.Reason,
		Message:         o.Message,
		Time:            o.LastTimestamp.Time,
	}
	if r.Host == "" {
		r.Host = o.ReportingInstance
	}
	if o.EventTime.After(r.Time) {
		r.Time = o.EventTime.Time
	}
	if o.Series != nil && o.Series.LastObservedTime.After(r.Time) {
		r.Time = o.Series.LastObservedTime.Time
	}
	return r
}

// Warning reports whether the Event is one to show: of type Warning, or of none.
func (r *EventRecord) Warning() bool {
	return r.Type == corev1.EventTypeWarning || r.Type == ""
}

// Node is the name of the node that the Event is about, or else came from.
func (r *EventRecord) Node() string {
	if r.Kind == "Node" {
		return r.ObjectName
	}
	return r.Host
}

// Object is "Kind/name" of the involved object.
func (r *EventRecord) Object() string { return r.Kind + "/" + r.ObjectName }

// path is Object with the namespace in it, where there is one.
func (r *EventRecord) path() string {
	if r.ObjectNamespace == "" || r.Kind == "Node" {
		return r.Object()
	}
	return r.Kind + "/" + r.ObjectNamespace + "/" + r.ObjectName
}
