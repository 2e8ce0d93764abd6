package ui_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

func TestMain(m *testing.M) { golden.Main(m) }

// both is a Sink that writes everything that can be seen of a tape.
type both struct {
	*ui.FeedWriter
	ui.FrameWriter
}

func (b both) Entries(e []noderoll.Entry) error { return b.FeedWriter.Entries(e) }
func (b both) Moment(v *ui.View) error          { return b.FrameWriter.Moment(v) }

func driver(t *testing.T, tape *ui.Tape, out io.Writer) (*timeline.Reader, *ui.Driver) {
	t.Helper()
	r, err := tape.Reader()
	if err != nil {
		t.Fatal(err)
	}
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	feed := ui.NewFeedWriter(out)
	feed.Verbose, feed.Live = true, true
	return r, ui.NewDriver(ui.NewView(r.Header(), o), both{feed, ui.FrameWriter{
		Draw: ui.Append(out), Options: render.Options{Width: 80, Height: 24},
	}})
}

// shipped is the tape of a shipped scenario, with its parameters' defaults.
func shipped(name string) *ui.Tape {
	return ui.Simulated(name, func(opts ...timeline.ReadOption) (*timeline.Reader, error) {
		return scenarios.Open(name, opts...)
	})
}

func demo(t *testing.T) *ui.Tape {
	t.Helper()
	return shipped("demo")
}

func through(t *testing.T, tape *ui.Tape, from, to time.Duration) string {
	t.Helper()
	var out bytes.Buffer
	r, d := driver(t, tape, &out)
	d.From, d.To = from, to
	if err := ui.Through(t.Context(), r, d); err != nil {
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
		for _, opts := range [][]replay.Option{
			{replay.WithSpeed(1)}, {replay.WithSpeed(7.3)}, {replay.WithSpeed(100)}, {replay.WithSpeed(replay.Max)},
			{replay.WithSpeed(0.5), replay.IdleLimit(700 * time.Millisecond)},
		} {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				r, d := driver(t, demo(t), &out)
				d.From, d.To = part.from, part.to
				if err := ui.Paced(t.Context(), demo(t), r, d, ui.Watcher{}, opts...); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, out.String()); diff != "" {
					t.Errorf("from %s to %s: paced shows something else (-through +paced):\n%s", part.from, part.to, diff)
				}
			})
		}
	}
}

func TestFollowShowsTheSame(t *testing.T) {
	for _, to := range []time.Duration{7 * time.Second, replay.End} {
		var out bytes.Buffer
		r, d := driver(t, demo(t), &out)
		d.To = to
		if err := ui.Follow(t.Context(), r, d); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(through(t, demo(t), 0, to), out.String()); diff != "" {
			t.Errorf("to %s (-through +follow):\n%s", to, diff)
		}
	}
}

// The tape is still being written: its first entry shows before it continues.
func TestFollowShowsAtOnce(t *testing.T) {
	header, events := scenarios.Demo()
	in, tape := io.Pipe()
	shown := make(lines, 1)
	var following sync.WaitGroup
	following.Go(func() {
		r, d := driver(t, ui.File("-", in), shown)
		if err := ui.Follow(t.Context(), r, d); err != nil {
			t.Error(err)
		}
	})
	w, err := timeline.NewWriter(tape, header)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if err := w.Write(ev); err != nil {
			t.Fatal(err)
		}
		if ev.At > 0 {
			break
		}
	}
	if line := <-shown; line != "T+2.000s     joining     ip-10-0-1-44\n" {
		t.Errorf("got %q", line)
	}
	if err := tape.Close(); err != nil {
		t.Fatal(err)
	}
	<-shown // the moment's panel
	following.Wait()
}

type lines chan string

func (c lines) Write(p []byte) (int, error) {
	c <- string(p)
	return len(p), nil
}

func TestPacedTakesTheTapesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := driver(t, demo(t), io.Discard)
		start := time.Now()
		if err := ui.Paced(t.Context(), demo(t), r, d, ui.Watcher{}, replay.WithSpeed(2)); err != nil {
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
		keys := make(chan player.Key, 2)
		keys <- player.KeyPause
		paused := 0
		start := time.Now()
		err := ui.Paced(t.Context(), demo(t), r, d, ui.Watcher{Keys: keys, Update: func(s replay.Status) error {
			if s.Paused {
				paused++
			}
			if paused == 1000 { // at 20 looks a second
				keys <- player.KeyQuit
			}
			return nil
		}})
		if !errors.Is(err, ui.ErrQuit) || time.Since(start) < 49*time.Second || d.View.At() != 0 {
			t.Errorf("got %v after %s at %s", err, time.Since(start), d.View.At())
		}
	})
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestSinkErrorEndsTheReplay(t *testing.T) {
	r, d := driver(t, demo(t), full{})
	if err := ui.Through(t.Context(), r, d); !errors.Is(err, errFull) {
		t.Errorf("Through: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		r, d := driver(t, demo(t), full{})
		if err := ui.Paced(t.Context(), demo(t), r, d, ui.Watcher{}); !errors.Is(err, errFull) {
			t.Errorf("Paced: %v", err)
		}
	})
}

func TestContextEndsTheReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := driver(t, demo(t), io.Discard)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := ui.Paced(ctx, demo(t), r, d, ui.Watcher{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
