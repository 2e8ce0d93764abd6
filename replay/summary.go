package replay

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// Summary holds the facts that reading a whole tape gives.
type Summary struct {
	Events   int
	Duration time.Duration // position of the last event
	Markers  []Marker
	Gaps     int
	Ended    bool // the tape has an END
}

// Summarize reads a tape through. Its cost is that of reading.
func Summarize(ctx context.Context, src timeline.Source) (s Summary, err error) {
	stream, err := src.Open()
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	for {
		if s.Events%batch == 0 && ctx.Err() != nil {
			return s, ctx.Err()
		}
		ev, err := stream.Next()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		s.Add(ev)
	}
}

// Add takes the tape's next event into account. Its object isn't looked at, so
// the tape may be read as lines ([timeline.Lines]).
func (s *Summary) Add(ev timeline.Event) {
	s.Events++
	s.Duration = ev.At
	switch ev.Type {
	case timeline.Mark:
		s.Markers = append(s.Markers, Marker{ev.Name, ev.At, s.Events})
	case timeline.Gap:
		s.Gaps++
	case timeline.End:
		s.Ended = true
	}
}
