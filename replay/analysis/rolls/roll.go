package rolls

import (
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

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
	StartLine  int           // of the tape that shows Start
	EndLine    int           // and End
	Replaced   int           // nodes of before that are gone
	Joined     int           // nodes that came meanwhile
	Left       int           // nodes that weren't on target when it ended
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
