package observe

import (
	"errors"
	"fmt"
	"io"

	"github.com/nodesim/nodesim/replay"
)

// Rewind goes back to where the first n events of a tape have been applied, by
// applying them again: what a group was before decides what its nodes are now.
// A subscriber of a Player calls it with the Number of a [replay.Rewound] note,
// and goes on with the Applied notes that follow.
//
// On an error the Follower is somewhere on the way.
func (f *Follower) Rewind(src replay.Source, n int) (err error) {
	f.Reset()
	if n == 0 {
		return nil
	}
	tape, err := src.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tape.Close()) }()
	for i := range n {
		ev, err := tape.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("tape %q ends behind %d events: want at least the %d that were played", tape.Header().Metadata.Name, i, n)
		}
		if err != nil {
			return err
		}
		if _, err := f.Apply(ev); err != nil {
			return err
		}
	}
	return nil
}
