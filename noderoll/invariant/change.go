package invariant

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ChangeType says what a Change tells. The words are those of a watch and of a
// tape.
type ChangeType string

// The types of change. Any other is ignored.
const (
	ChangeAdded    ChangeType = "ADDED"
	ChangeModified ChangeType = "MODIFIED"
	ChangeDeleted  ChangeType = "DELETED"
	ChangeSync     ChangeType = "SYNC" // the list of the resource is whole
	ChangeGap      ChangeType = "GAP"  // changes may be missing; until SYNC comes what a new list has found
)

// Change is one line of a tape, decoded.
type Change struct {
	At   time.Duration // since the start; never decreases
	Line int           // for messages; 0 where there are no lines
	Type ChangeType
	// Resource is [Nodes], [Pods], [Budgets], [Events], or any other word that
	// tells resources apart.
	Resource string
	// Version is the resourceVersion of the change, for a deletion that of the
	// deletion. Empty where there is none.
	Version string
	// Object is the whole state, a deletion's the last one; nil for SYNC and GAP.
	// *corev1.Node, *corev1.Pod, *policyv1.PodDisruptionBudget and *corev1.Event
	// are looked into, of others only the metadata. It is not kept, but for the
	// map of a pod's labels and the list of its containers, nor changed.
	Object metav1.Object
}

// CheckOptions say how exact a tape can be.
type CheckOptions struct {
	// Start is the wall time of position 0. Where it is zero, times inside of
	// objects aren't compared with the tape's clock.
	Start time.Time
	// Skew is by how much changes of different resources may be out of order.
	// Changes of one resource never are. Without skew the tape's clock is taken
	// for that of the cluster; with skew it has to show that it is, since a
	// recording may be one of a replay.
	Skew time.Duration
	// Slack bounds how far clocks may differ, and controllers be late, on top of each
	// bound that an invariant names.
	Slack time.Duration
	// Lag is by how much a change may stand later on the tape than it happened:
	// a watch that was cut off delivers when it is back.
	Lag time.Duration
	// Partial says that the tape holds a part of the cluster's nodes and pods,
	// so that what it doesn't show may exist all the same.
	Partial bool
	// Controllers says that the cluster surely runs a controller manager.
	// Without it, what its controllers owe is asked only of a tape that shows
	// the node lifecycle controller at work: a bare API server has none.
	Controllers bool
	// Roll has the limits of the roll's policy; nil checks none.
	Roll *RollLimits
}

// CheckRecorded returns the options for a recording that begins at start: each
// resource comes by a watch of its own, through a real clock and network.
func CheckRecorded(start time.Time) CheckOptions {
	return CheckOptions{Start: start, Skew: 2 * time.Second, Slack: 5 * time.Second, Lag: 5 * time.Minute}
}

// CheckSimulated returns the options for a simulation that begins at start: one
// clock, one order, and a second for what events and controllers take.
func CheckSimulated(start time.Time) CheckOptions {
	return CheckOptions{Start: start, Slack: time.Second, Lag: time.Second, Controllers: true}
}

// tolerance returns what is added to each bound between things that happen in
// different places.
func (o *CheckOptions) tolerance() time.Duration { return o.Skew + o.Slack }
