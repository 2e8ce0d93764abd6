package inspect

import (
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/timeline"
)

// Report holds what is on a tape.
type Report struct {
	Header *timeline.Header
	// Events counts the lines after the header, of whatever type.
	Events   int
	Duration time.Duration // position of the last event
	// Complete says that the recorder stopped cleanly; Torn, in a few
	// words, what is wrong with the tape's end.
	Complete bool
	Torn     string
	Gaps     []Gap
	Marks    []Mark
	// Resources counts the lines of each resource by type. Resources of the
	// header without events are there as well, empty.
	Resources map[string]map[timeline.Type]int
	Rolls     []Roll
	// Unmatched is the error of a header whose scope names nodes or pods, where none
	// of those on the tape is one of them. It doesn't name the tape.
	Unmatched error
	// Checked says that the tape was checked against the invariants; Violations
	// are where it breaks them, in the tape's order, and MoreViolations counts
	// those left out.
	Checked        bool
	Violations     []invariant.Violation
	MoreViolations int
}

// Gap is a place where events may be missing.
type Gap struct {
	At       time.Duration
	Resource string
	Reason   string
}

// Mark is a named moment.
type Mark struct {
	At     time.Duration
	Name   string
	Reason string
}

// Outcome describes how a roll ended.
type Outcome string

// The outcomes.
const (
	Complete   Outcome = "complete"   // every node of the group is new and Ready
	Failed     Outcome = "failed"     // a controller said so
	Unfinished Outcome = "unfinished" // the tape ends first
)

// PodRoll holds what was done to the pods of a roll that updates them in place.
type PodRoll struct {
	Scope                                           string // as noderoll.PodScope has it: "shop/app=web"
	Updated, Resized, RolledBack, Failed, Restarted int    // how often
}

// Roll is one replacement of a group's nodes, or one update of pods in place.
type Roll struct {
	Nodegroup  string        // "" where nodes don't name their group
	Pods       *PodRoll      // of a roll of pods; nil for one of nodes
	Start, End time.Duration // of its first and last transition
	Replaced   int           // nodes of before that are gone
	Joined     int           // nodes that came meanwhile
	Milestones []Milestone   // in their order
	Outcome    Outcome
}

// Milestone is the first, or the last, transition of its kind.
type Milestone struct {
	Name string // "first joining", "last terminated"
	At   time.Duration
	Kind noderoll.EventKind
	Node string
	Pod  string // of a roll of pods, as its entry names it: "Pod/shop/web-0"
}
