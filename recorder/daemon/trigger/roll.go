package trigger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Kind is what began a roll.
type Kind string

// The kinds of triggers.
const (
	Cordon    Kind = "cordon"    // a node became unschedulable, or has a taint of those who remove it
	Notice    Kind = "notice"    // a node has a taint by which its cloud announces that it will be interrupted
	Deletion  Kind = "deletion"  // a node, NodeClaim or Machine has a deletionTimestamp
	NotReady  Kind = "notready"  // a node that was Ready is not
	Gone      Kind = "gone"      // a node was deleted
	Evictions Kind = "evictions" // pods were evicted: one of a cordoned node, or many
	Found     Kind = "found"     // a node or machine was on its way out when the recording began
)

// Trigger is the event that began a roll.
type Trigger struct {
	Kind Kind `json:"kind"`
	// Resource, as the tape names it, Namespace, Name and UID are the object's, RV the version of the event: two
	// recorders of a cluster see the same.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	RV        string `json:"rv,omitempty"`
	// Reason is the event in a few words.
	Reason string `json:"reason"`
	// Time is when it happened, where the object says so.
	Time time.Time `json:"time,omitzero"`
}

// Outcome is how a tape ends.
type Outcome string

// The outcomes.
const (
	Complete    Outcome = "complete"    // nothing of the roll is under way
	Unfinished  Outcome = "unfinished"  // the tape was too long or too large; the next one goes on where more happens
	Interrupted Outcome = "interrupted" // the recorder was ended
)

// Roll is what happens to the nodes of a group. Its times are those of arrival.
type Roll struct {
	Group   string
	Trigger Trigger
	// Part is 1, and one more for each tape that continues the roll.
	Part  int
	Began time.Time // of this part
	Since time.Time // when the roll began: its first part
	Last  time.Time // when something of the roll was last seen
	// Found says that the roll may have begun before the recording: a node or machine of the group was on its way out there when the roll
	// began, or the trigger's node was.
	Found bool

	// Ended and Outcome are set where it is over.
	Ended   time.Time
	Outcome Outcome

	idle bool // it was found, and nothing of it has happened since
}

// ID names the part of a roll of a cluster. It is the same for all recorders that have seen its trigger.
func (r *Roll) ID(cluster string) string {
	t := &r.Trigger
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %d", cluster, r.Group, t.Kind, t.Resource, t.Namespace+"/"+t.Name+"/"+t.UID, t.RV, r.Part))
	return hex.EncodeToString(sum[:])[:10]
}
