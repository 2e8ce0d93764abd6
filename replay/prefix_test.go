package replay_test

import (
	"io"
	"slices"
	"testing"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// trackedTape is a tape that reports whether it was opened, and closed.
type trackedTape struct {
	timeline.Source
	opened, closed int
}

func (l *trackedTape) Open() (timeline.Stream, error) {
	s, err := l.Source.Open()
	l.opened++
	return &trackedStream{s, l}, err
}

type trackedStream struct {
	timeline.Stream
	to *trackedTape
}

func (b *trackedStream) Close() error { b.to.closed++; return b.Stream.Close() }

func TestPrefix(t *testing.T) {
	header := timeline.Header{Metadata: timeline.Metadata{Name: "short"}}
	marks := []timeline.Event{{Type: timeline.Mark, Name: "a"}, {Type: timeline.Mark, Name: "b"}, {Type: timeline.Mark, Name: "c"}}
	for _, c := range []struct {
		n    int
		fail string // the name at which apply fails
		want []string
		err  string
	}{
		{n: 0},
		{n: 2, want: []string{"a", "b"}},
		{n: 3, want: []string{"a", "b", "c"}},
		{n: 4, want: []string{"a", "b", "c"}, err: `tape "short" ends after 3 events: want at least the 4 that were played`},
		{n: 3, fail: "b", want: []string{"a", "b"}, err: io.ErrShortWrite.Error()},
	} {
		src := &trackedTape{Source: replay.Events(&header, marks)}
		var got []string
		err := replay.Prefix(src, c.n, func(ev timeline.Event) error {
			if got = append(got, ev.Name); ev.Name == c.fail {
				return io.ErrShortWrite
			}
			return nil
		})
		said := ""
		if err != nil {
			said = err.Error()
		}
		if !slices.Equal(got, c.want) || said != c.err {
			t.Errorf("%d events: got %q, %q; want %q, %q", c.n, got, said, c.want, c.err)
		}
		if src.opened != src.closed || src.opened != min(c.n, 1) {
			t.Errorf("%d events: opened %d times, closed %d times", c.n, src.opened, src.closed)
		}
	}
}
