package ui

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

const (
	// liveTick is the interval at which a live panel is repainted where nothing changes.
	liveTick = time.Second
	// livePause is the least time between two repaints.
	livePause = 100 * time.Millisecond
)

// Live shows a tape while it is made: its maker hands each line to Event,
// and Play lets time pass in between.
type Live struct {
	mu      sync.Mutex
	driver  *Driver
	err     error
	changed chan struct{} // holds one word when there is something new
}

// NewLive returns a Live that has seen nothing.
func NewLive(d *Driver) *Live { return &Live{driver: d, changed: make(chan struct{}, 1)} }

// Event takes the tape's next line. It may be called from any goroutine, one call
// at a time. The first error of the Driver is Play's.
func (l *Live) Event(ev timeline.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err = l.driver.Event(ev)
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Play shows until ctx ends; at says where the tape is now. Without a Terminal
// everything goes to the Driver's Sink. A Terminal is given back, whatever
// happens; the last panel stays. Of the keys there is the one that quits: after it
// Play returns ErrQuit.
func (l *Live) Play(ctx context.Context, at func() time.Duration, t *Terminal) error {
	look := func(bool) error { return nil }
	var keys <-chan player.Key
	if t != nil {
		var done func() error
		look, done = l.onTerminal(t)
		keys = t.Keys
		defer func() { _ = done() }() // the terminal is given back, or gone
	}
	ticker := time.NewTicker(liveTick)
	defer ticker.Stop()
	for {
		if err := errors.Join(l.pass(at()), look(false)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(l.end(), look(true))
		case k := <-keys:
			if k == player.KeyQuit {
				return errors.Join(ErrQuit, l.end(), look(true))
			}
		case <-ticker.C:
		case <-l.changed:
			if t == nil {
				continue
			}
			select {
			case <-ctx.Done():
			case <-time.After(livePause):
			}
		}
	}
}

// pass lets the tape's time pass.
func (l *Live) pass(at time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = l.driver.Advance(at)
	}
	return l.err
}

func (l *Live) end() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = l.driver.End()
	}
	return l.err
}

// onTerminal returns what paints, the last panel in another form, and what gives
// the terminal back.
func (l *Live) onTerminal(t *Terminal) (look func(last bool) error, done func() error) {
	screen, done := t.screen()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.driver.Sink = discard{}
	p := painter{screen: screen, terminal: *t, view: l.driver.View, live: true}
	text := func(last bool) string {
		l.mu.Lock()
		defer l.mu.Unlock()
		p.last = last
		return p.text(replay.Status{Position: l.driver.View.At()}, 0)
	}
	look = func(last bool) error {
		// A terminal that takes nothing, after ctrl-s, doesn't hold up the tape.
		err := screen.Draw(text(last))
		if errors.Is(err, render.ErrClosed) {
			return nil
		}
		return err
	}
	return look, done
}
