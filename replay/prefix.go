package replay

import (
	"errors"
	"fmt"
	"io"

	"github.com/nodesim/nodesim/timeline"
)

// Prefix hands the first n events of a tape to apply, in their order: a holder that
// keeps more than the state of a Cluster goes back by it, with the Number of a
// [Rewound] note. It ends at apply's first error. A tape that has fewer events is
// an error, for it isn't the one that was played. For n = 0 the tape isn't opened.
func Prefix(src timeline.Source, n int, apply func(timeline.Event) error) (err error) {
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
			return fmt.Errorf("tape %q ends after %d events: want at least the %d that were played", tape.Header().Metadata.Name, i, n)
		}
		if err != nil {
			return err
		}
		if err := apply(ev); err != nil {
			return err
		}
	}
	return nil
}
