package render

import (
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// A Frame is everything that one panel shows. Panel reads it and keeps nothing
// of it.
type Frame struct {
	Title     string // the tape, scenario or program; "nodesim" when empty
	Nodegroup string // the group that is rolled
	Server    string // version or address of the API server
	FromImage string // what the group ran before
	ToImage   string // what it is to run

	Snapshot noderoll.Snapshot
	// Pods says that the roll is one of the snapshot's pods, and not of its nodes.
	Pods bool
	// Desired is the size that the group had when the roll began, the
	// denominator of the progress. 0 means the nodes of this snapshot. Pods that are
	// updated stay, so their roll doesn't need it.
	Desired int
	// Recent are the latest entries of the feed, oldest first. The panel shows
	// the last six, more where there is room.
	Recent []noderoll.Entry
	// Blocked names the draining nodes whose evictions a budget holds up, and
	// the budget, as far as it is known.
	Blocked map[string]string
	// Rolling says that a roll is under way, although all nodes may be on target: a
	// surge is still to go, or a successor to come.
	Rolling bool
	// Failed says why the roll has failed; empty while it has not.
	Failed string

	// Browse is nil unless a user looks through the rows: the panel then shows those that matter most.
	Browse *Browse
	// Details of a node take the place of nodes, events and warnings where they aren't nil.
	Details *Details

	Live     bool          // a cluster is watched; otherwise a tape is played
	Stale    string        // why what is shown may be out of date; empty when it is not
	Position time.Duration // on the tape, or since the watch began
	Duration time.Duration // of the tape; 0 where there is no end to show
	Speed    string        // "20x", "max"
	Paused   bool
	Hint     string // what the keys do, at the right of the status line
}

// Options are the properties of the place where a panel appears.
type Options struct {
	Width  int // cells a line; at most 1000 are used
	Height int // lines; at most 1000 are used
	// Profile holds what colours the terminal can show. NoTTY and Unknown (the zero
	// value) give text without escape codes, ASCII bold and faint text only.
	Profile Profile
	// ASCII keeps every line to the characters from space to tilde.
	ASCII bool
	// Fill puts the status line at the bottom of the height, which keeps a panel
	// that is repainted from growing and shrinking. Otherwise the panel is as
	// high as what it holds, which suits a stream.
	Fill bool
}

const largestSide = 1000

// bounded returns the options with sides from 0 to largestSide.
func (o Options) bounded() Options {
	o.Width = min(max(o.Width, 0), largestSide)
	o.Height = min(max(o.Height, 0), largestSide)
	return o
}
