package observe

import (
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// Rewind goes back to where the first n events of a tape have been applied, by
// applying them again: what a group was before decides what its nodes are now.
// A subscriber of a Player calls it with the Number of a [replay.Rewound] note,
// and continues with the Applied notes that follow.
//
// On an error the Follower is somewhere on the way.
func (f *Follower) Rewind(src timeline.Source, n int) error {
	f.Reset()
	return replay.Prefix(src, n, func(ev timeline.Event) error {
		_, err := f.Apply(ev)
		return err
	})
}
