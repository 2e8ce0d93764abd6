package player

import (
	"time"

	"github.com/nodesim/nodesim/internal/ui/render"
)

// Shown is what the tape shows now. It comes at the beginning and whenever somebody has looked.
type Shown struct {
	Frame         render.Frame // its Hint is for a user who only watches
	Width, Height int          // of the terminal
	Below         []string     // lines below the panel
	// Details are those of the node that Model.Node has named; nil before somebody has looked.
	Details *render.Details
}

// Said is why a key couldn't be obeyed, or what else there is to say until the next key; "" forgets it.
type Said string

// Press is a key that moves the tape.
type Press Key

// Seek goes to a position or by a distance, as the user has written it.
type Seek string

// SeekTo goes to a position, and pauses there.
type SeekTo time.Duration

// Position is where it goes.
func (s SeekTo) Position() time.Duration { return time.Duration(s) }

// FindFindings asks for the findings of the tape: [Found] is the answer.
type FindFindings struct{}

// Found are the findings of the whole tape, or why there are none.
type Found struct {
	Findings []Finding
	Err      error
}

// Finding is one thing worth knowing, at the position where it begins.
type Finding struct {
	At   time.Duration
	Node string // which it is about; may be empty
	Text string
}

// WriteReport writes the report into a file: [Said] is the answer.
type WriteReport string
