package show_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/render"
	"github.com/nodesim/nodesim/internal/show"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

func TestMain(m *testing.M) { golden.Main(m) }

// both is a Sink that writes everything that can be seen of a tape.
type both struct {
	*show.FeedWriter
	show.FrameWriter
}

func (b both) Entries(e []noderoll.Entry) error { return b.FeedWriter.Entries(e) }
func (b both) Moment(v *show.View) error        { return b.FrameWriter.Moment(v) }

func driver(t *testing.T, tape *show.Tape, out io.Writer) (*timeline.Reader, *show.Driver) {
	t.Helper()
	r, err := tape.Reader()
	if err != nil {
		t.Fatal(err)
	}
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	feed := show.NewFeedWriter(out)
	feed.Verbose, feed.Live = true, true
	return r, show.NewDriver(show.NewView(r.Header(), o), both{feed, show.FrameWriter{
		Draw: show.Append(out), Options: render.Options{Width: 80, Height: 24},
	}})
}

func demo(t *testing.T) *show.Tape {
	t.Helper()
	tape, err := show.Scenario("demo")
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

func through(t *testing.T, tape *show.Tape, from, to time.Duration) string {
	t.Helper()
	var out bytes.Buffer
	r, d := driver(t, tape, &out)
	d.From, d.To = from, to
	if err := show.Through(t.Context(), r, d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestDemoFeedAndFrames(t *testing.T) {
	golden.Assert(t, "demo", through(t, demo(t), 0, replay.End))
}

// Pace is when, never what.
func TestEveryPaceShowsTheSame(t *testing.T) {
	for _, part := range []struct{ from, to time.Duration }{{0, replay.End}, {5 * time.Second, 15 * time.Second}} {
		want := through(t, demo(t), part.from, part.to)
		for _, opts := range [][]replay.PlayerOption{
			{replay.WithSpeed(1)}, {replay.WithSpeed(7.3)}, {replay.WithSpeed(100)}, {replay.WithSpeed(replay.Max)},
			{replay.WithSpeed(0.5), replay.IdleLimit(700 * time.Millisecond)},
		} {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				r, d := driver(t, demo(t), &out)
				d.From, d.To = part.from, part.to
				if err := show.Paced(t.Context(), demo(t), r, d, show.Watcher{}, opts...); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, out.String()); diff != "" {
					t.Errorf("from %s to %s: paced shows something else (-through +paced):\n%s", part.from, part.to, diff)
				}
			})
		}
	}
}

func TestPacedTakesTheTapesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := driver(t, demo(t), io.Discard)
		start := time.Now()
		if err := show.Paced(t.Context(), demo(t), r, d, show.Watcher{}, replay.WithSpeed(2)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 13*time.Second {
			t.Errorf("26 s of tape at 2x took %s", took)
		}
	})
}

func TestPauseAndQuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := driver(t, demo(t), io.Discard)
		keys := make(chan show.Key, 2)
		keys <- show.KeyPause
		paused := 0
		start := time.Now()
		err := show.Paced(t.Context(), demo(t), r, d, show.Watcher{Keys: keys, Look: func(s replay.Status) error {
			if s.Paused {
				paused++
			}
			if paused == 1000 { // at 20 looks a second
				keys <- show.KeyQuit
			}
			return nil
		}})
		if !errors.Is(err, show.ErrQuit) || time.Since(start) < 49*time.Second || d.View.At() != 0 {
			t.Errorf("got %v after %s at %s", err, time.Since(start), d.View.At())
		}
	})
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestSinkErrorEndsTheReplay(t *testing.T) {
	r, d := driver(t, demo(t), full{})
	if err := show.Through(t.Context(), r, d); !errors.Is(err, errFull) {
		t.Errorf("Through: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		r, d := driver(t, demo(t), full{})
		if err := show.Paced(t.Context(), demo(t), r, d, show.Watcher{}); !errors.Is(err, errFull) {
			t.Errorf("Paced: %v", err)
		}
	})
}

func TestContextEndsTheReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := driver(t, demo(t), io.Discard)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := show.Paced(ctx, demo(t), r, d, show.Watcher{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
