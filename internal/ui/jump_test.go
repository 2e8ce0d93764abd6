package ui_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

var small = render.Options{Width: 80, Height: 24}

// straight is the panel at a place of the tape, for a viewer that has only gone
// forward.
func straight(t *testing.T, tape *ui.Tape, events int, at time.Duration) string {
	t.Helper()
	r, d := driver(t, tape, io.Discard)
	for range events {
		ev, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Event(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Advance(at); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	f := d.View.Frame()
	f.Position = at
	return render.Panel(f, small)
}

// played is a tape that rests, for a test that moves it.
type played struct {
	*control.Control
	plays  *replay.Player
	keys   chan player.Key
	panel  string // at the last look
	status replay.Status
	feed   bytes.Buffer
	said   []string
}

// settle waits for the next look.
func (p *played) settle() { <-time.After(200 * time.Millisecond); synctest.Wait() }

// onPlayed moves a tape within a bubble.
func onPlayed(t *testing.T, tape *ui.Tape, move func(t *testing.T, p *played), opts ...replay.Option) {
	synctest.Test(t, func(t *testing.T) {
		plays, err := replay.NewPlayer(tape.Source(), append(opts, replay.StayOpen())...)
		if err != nil {
			t.Fatal(err)
		}
		p := &played{plays: plays, keys: make(chan player.Key)}
		r, d := driver(t, tape, io.Discard)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		feed := ui.NewFeedWriter(&p.feed)
		feed.Live = true
		d.Sink = feed
		survey := ui.NewSummarizer(t.Context(), tape)
		defer survey.Close()
		p.Control = control.New(plays, control.Sources{Transitions: d.Landmarks, Summary: survey.Known})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			s := ui.Over(plays, tape, d)
			defer s.Close()
			ended <- s.Play(ctx, ui.Watcher{
				Keys: p.keys, Control: p.Control, Say: func(err error) { p.said = append(p.said, err.Error()) },
				Update: func(s replay.Status) error {
					f := d.View.Frame()
					f.Position = s.Position
					p.panel, p.status = render.Panel(f, small), s
					return nil
				},
			})
		}()
		p.settle()
		move(t, p)
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := plays.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func heldTape(t *testing.T) *ui.Tape {
	t.Helper()
	name := filepath.Join(t.TempDir(), "held.yaml")
	if err := os.WriteFile(name, []byte(held()), 0o600); err != nil {
		t.Fatal(err)
	}
	return ui.File(name, nil)
}

// Wherever one goes and however: a place shows what it shows to those who went
// straight there.
func TestAPlaceShowsTheSameHoweverOneGotThere(t *testing.T) {
	for name, tape := range map[string]*ui.Tape{"demo": demo(t), "held": heldTape(t)} {
		length := tape.Length(t.Context())
		onPlayed(t, tape, func(t *testing.T, p *played) {
			random := rand.New(rand.NewPCG(1, 2))
			var way []string
			for range 300 {
				var err error
				switch random.IntN(4) {
				case 0:
					_, err = p.Step(t.Context(), control.Steps{Count: 1 + random.IntN(3)})
					way = append(way, "step")
				case 1:
					_, err = p.Step(t.Context(), control.Steps{Until: control.UntilTransition})
					way = append(way, "transition")
				default:
					to := time.Duration(random.Int64N(int64(length + 2*time.Second)))
					err = p.Seek(t.Context(), to)
					way = append(way, to.String())
				}
				if err != nil {
					t.Fatal(err)
				}
				p.settle()
				if diff := cmp.Diff(straight(t, tape, p.status.Number, p.status.Position), p.panel); diff != "" {
					t.Fatalf("%s: after %s, at event %d, %s (-straight +got):\n%s",
						name, strings.Join(way[max(len(way)-5, 0):], ", "), p.status.Number, p.status.Position, diff)
				}
			}
		}, replay.StartPaused())
	}
}

// A feed shows what comes, not again what was passed on the way back.
func TestFeedAfterGoingBack(t *testing.T) {
	onPlayed(t, demo(t), func(t *testing.T, p *played) {
		if err := p.Seek(t.Context(), 11*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := p.Seek(t.Context(), 3*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := p.Seek(t.Context(), 5*time.Second); err != nil {
			t.Fatal(err)
		}
		var stamps []string
		for _, line := range strings.Split(strings.TrimSpace(p.feed.String()), "\n") {
			stamps = append(stamps, strings.Join(strings.Fields(line)[:2], " "))
		}
		want := []string{"T+2.000s joining", "T+4.000s online", "T+4.000s cordoned", "T+4.000s draining", "T+10.000s terminated",
			"T+4.000s online", "T+4.000s cordoned", "T+4.000s draining"}
		if diff := cmp.Diff(want, stamps); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}, replay.StartPaused())
}

func TestKeysMoveTheTape(t *testing.T) {
	onPlayed(t, demo(t), func(t *testing.T, p *played) {
		for _, c := range []struct {
			key    player.Key
			at     time.Duration
			speed  replay.Speed
			paused bool
		}{
			{player.KeyTransition, 2 * time.Second, 0.001, true},
			{player.KeyTransition, 4 * time.Second, 0.001, true},
			{player.KeyForward, 14 * time.Second, 0.001, true},
			{player.KeyBack, 4 * time.Second, 0.001, true},
			{player.KeyBack, 0, 0.001, true},
			{player.KeyEvent, 2 * time.Second, 0.001, true},
			{player.KeyFarForward, 26 * time.Second, 0.001, true},
			{player.KeyEvent, 26 * time.Second, 0.001, true}, // the end: nothing comes
			{player.KeyFarBack, 0, 0.001, true},
			{player.KeyFaster, 0, 0.002, true},
			{player.KeySlower, 0, 0.001, true},
			{player.KeySlower, 0, 0.001, true}, // as slow as can be
			{player.KeyHelp, 0, 0.001, true},
		} {
			p.keys <- c.key
			p.settle()
			if s := p.status; s.Position != c.at || s.Speed != c.speed || s.Paused != c.paused {
				t.Fatalf("key %d: at %s, %s, paused %t; want %s, %s, %t", c.key, s.Position, s.Speed, s.Paused, c.at, c.speed, c.paused)
			}
		}
		p.SetSpeed(1024)
		p.keys <- player.KeyFaster
		p.settle()
		if p.status.Speed != replay.Max {
			t.Errorf("twice 1024x is %s, want max", p.status.Speed)
		}
		p.keys <- player.KeySlower
		p.settle()
		if p.status.Speed != 1024 {
			t.Errorf("slower than max is %s, want 1024x", p.status.Speed)
		}
	}, replay.WithSpeed(0.001), replay.StartPaused())
}

func TestKeysGoFromMarkerToMarker(t *testing.T) {
	name := filepath.Join(t.TempDir(), "story.yaml")
	if err := os.WriteFile(name, []byte(story), 0o600); err != nil {
		t.Fatal(err)
	}
	onPlayed(t, ui.File(name, nil), func(t *testing.T, p *played) {
		if err := p.Seek(t.Context(), 45*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := p.Mark("mine"); err != nil {
			t.Fatal(err)
		}
		var at []time.Duration
		for _, k := range []player.Key{
			player.KeyMarker, player.KeyMarker, player.KeyLastMarker, player.KeyLastMarker, player.KeyLastMarker, player.KeyMarker,
		} {
			p.keys <- k
			p.settle()
			at = append(at, p.status.Position)
		}
		want := []time.Duration{55 * time.Second, 55 * time.Second, 45 * time.Second, 40 * time.Second, 40 * time.Second, 45 * time.Second}
		if !slices.Equal(at, want) {
			t.Errorf("got %s, want %s", at, want)
		}
	}, replay.StartPaused())
}

// A key that can't be obeyed says why; the show continues.
func TestWhatCanBeReadOnceGoesForwardAlone(t *testing.T) {
	tape := ui.File("-", strings.NewReader(story))
	synctest.Test(t, func(t *testing.T) {
		plays, err := replay.NewPlayer(tape.Source(), replay.StartPaused())
		if err != nil {
			t.Fatal(err)
		}
		d := ui.NewDriver(ui.NewView(plays.Header(), observeOptions(t, plays.Header())), discard{})
		keys, said := make(chan player.Key), make(chan error, 1)
		ended := make(chan error, 1)
		go func() {
			s := ui.Over(plays, tape, d)
			defer s.Close()
			ended <- s.Play(t.Context(), ui.Watcher{Keys: keys, Say: func(err error) { said <- err }})
		}()
		keys <- player.KeyForward
		keys <- player.KeyBack
		if err := <-said; !strings.Contains(err.Error(), "standard input can be read once only") {
			t.Errorf("got %v", err)
		}
		keys <- player.KeyPause
		if err := <-ended; err != nil || d.View.At() != time.Minute {
			t.Errorf("got %v at %s", err, d.View.At())
		}
	})
}

type discard struct{}

func (discard) Entries([]noderoll.Entry) error { return nil }
func (discard) Moment(*ui.View) error          { return nil }

func observeOptions(t *testing.T, h *timeline.Header) observe.Options {
	t.Helper()
	o, err := observe.OptionsFor(h, "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return o
}
