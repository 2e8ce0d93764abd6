package ui_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/replay"
)

// tty keeps what was painted last.
type tty struct {
	mu   sync.Mutex
	last string
}

func (t *tty) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = string(p)
	return len(p), nil
}

func (t *tty) shows(test *testing.T, what string, wants ...string) {
	test.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, want := range wants {
		if !strings.Contains(t.last, want) {
			test.Errorf("%s: the screen lacks %q:\n%s", what, want, t.last)
		}
	}
}

// onStage plays a tape, paused, to a user who types.
func onStage(t *testing.T, tape *ui.Tape, terminal ui.Terminal, user func(screen *tty, types func(string))) error {
	t.Helper()
	r, d := driver(t, tape, io.Discard)
	screen, typed := &tty{}, make(chan []byte, 8)
	terminal.Out, terminal.Typed, terminal.Size = screen, typed, func() (int, int) { return 100, 40 }
	ended := make(chan error)
	go func() { ended <- ui.OnTerminal(t.Context(), tape, r, d, terminal, replay.StartPaused()) }()
	types := func(text string) {
		typed <- []byte(text)
		<-time.After(time.Second)
		synctest.Wait()
	}
	<-time.After(time.Second)
	synctest.Wait()
	user(screen, types)
	return <-ended
}

// What is typed at a terminal selects, opens, goes to a time and a finding, and writes a report; q ends it.
func TestTypedAtATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wrote string
		err := onStage(t, demo(t), ui.Terminal{
			Findings: func(context.Context) ([]player.Finding, error) {
				return []player.Finding{{At: 10 * time.Second, Node: "ip-10-0-1-12", Text: "it took long"}}, nil
			},
			ReportName: "demo.html",
			Report:     func(_ context.Context, file string) error { wrote = file; return nil },
		}, func(screen *tty, types func(string)) {
			screen.shows(t, "at first", "0/3 replaced", "space pause, ? keys, q quit", "paused")
			types("j\r")
			screen.shows(t, "details", "NODE ip-10-0-1-12", "CONDITIONS ", "Ready", "PODS ")
			types("\x1b")
			types("\x1b")
			screen.shows(t, "without them", "NODES 3")
			types(":0:04\r")
			screen.shows(t, "at four seconds", "T+4.000s", "0:04")
			types(":+1h\r")
			screen.shows(t, "beyond the end", "the tape ends at T+26.000s")
			types(":soon\r")
			screen.shows(t, "at no time", `position "soon": want`)
			types("f")
			screen.shows(t, "a finding", "0:10", "finding 1 of 1: it took long")
			types("r\r")
			screen.shows(t, "a report", "wrote demo.html")
			types("/é\x1b[D")
			screen.shows(t, "a letter of two bytes", "search: é_")
			types("\r")
			types(" :0:02\r")
			screen.mu.Lock()
			if strings.Contains(screen.last, "the tape begins") {
				t.Errorf("a tape that goes on has passed the time already:\n%s", screen.last)
			}
			screen.mu.Unlock()
			types("q")
		})
		if !errors.Is(err, ui.ErrQuit) || wrote != "demo.html" {
			t.Errorf("got %v and report %q, want ErrQuit and demo.html", err, wrote)
		}
	})
}

// A terminal that takes nothing more ends the replay.
func TestABrokenScreenEndsTheReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := driver(t, demo(t), io.Discard)
		err := ui.OnTerminal(t.Context(), demo(t), r, d, ui.Terminal{Out: full{}, Size: func() (int, int) { return 80, 24 }}, replay.WithSpeed(0.001))
		if !errors.Is(err, errFull) {
			t.Errorf("got %v, want %v", err, errFull)
		}
	})
}

// stalled is a terminal that takes nothing, as after ctrl-s, until it goes on.
type stalled struct {
	tty
	begun chan struct{}
	once  sync.Once
	goOn  chan struct{}
}

func (s *stalled) Write(p []byte) (int, error) {
	s.once.Do(func() { close(s.begun) })
	<-s.goOn
	return s.tty.Write(p)
}

// A terminal that takes nothing doesn't hold up the tape: it is at its end when the terminal goes on.
func TestAStalledTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tape := demo(t)
		r, d := driver(t, tape, io.Discard)
		screen := &stalled{begun: make(chan struct{}), goOn: make(chan struct{})}
		ended := make(chan error)
		go func() {
			ended <- ui.OnTerminal(t.Context(), tape, r, d, ui.Terminal{Out: screen, Size: func() (int, int) { return 100, 40 }}, replay.WithSpeed(1))
		}()
		<-screen.begun
		<-time.After(time.Hour)
		synctest.Wait()
		if got := d.View.At(); got < 26*time.Second {
			t.Errorf("the tape is at %s: want it at its end", got)
		}
		close(screen.goOn)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		screen.shows(t, "in the end", "T+26.000s")
	})
}
