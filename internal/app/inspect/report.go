package inspect

import (
	"time"

	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/replay/analysis/rolls"
	"github.com/nodesim/nodesim/replay/policy"
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
	Rolls     []rolls.Roll
	// Unmatched is the error of a header whose scope names nodes or pods, where none
	// of those on the tape is one of them. It doesn't name the tape.
	Unmatched error
	// Checked says that the tape was checked against the invariants; Violations
	// are where it breaks them, in the tape's order, and MoreViolations counts
	// those left out.
	Checked        bool
	Violations     []invariant.Violation
	MoreViolations int
	// Policies are what policies say of the rolls, where the tape was held against any.
	Policies []policy.Result
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
