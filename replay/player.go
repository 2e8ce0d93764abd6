package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nodesim/nodesim/timeline"
	"k8s.io/utils/clock"
)

// Player moves a Cluster along a tape: at a pace, step by step, or to a
// position. How it gets there changes when an event is shown, never which
// events or in which order.
//
// Methods may be called from any goroutine, before Run, beside it and after
// it. None but Run and Seek takes longer than the events that it applies. The
// Player starts no goroutine of its own.
type Player struct {
	source  Source
	cluster *Cluster
	clock   clock.Clock
	from    time.Duration
	to      time.Duration
	loop    bool
	keep    bool
	every   int // events between keyframes; 0 for none
	options []ClusterOption

	kick chan struct{} // wakes Run after a change of pace or position

	mu      sync.Mutex
	stream  Stream
	next    *timeline.Event // read ahead, in ahead
	ahead   timeline.Event
	err     error         // of the stream or the cluster; the Player is at its end
	number  int           // events applied
	at      time.Duration // position of the last one
	opened  bool          // the initial lists are applied
	opening bool          // they are being applied
	ended   bool
	told    bool // of the end
	running bool
	rewinds int
	pace    TimeMap
	frames  []keyframe
	marks   []Marker
	subs    []*subscription
}

// PlayerOption sets a Player up.
type PlayerOption func(*Player)

// WithSpeed sets the pace; without it a tape plays at 1x.
func WithSpeed(s Speed) PlayerOption { return func(p *Player) { p.pace.speed = s } }

// WithClock sets the clock that the pace is kept by, for tests. A FakeClock
// has to be stepped from event to event: it fires waiters in the order of
// their registration when one step jumps over several.
func WithClock(c clock.Clock) PlayerOption { return func(p *Player) { p.clock = c } }

// From starts at a position; what stands before it is applied at once.
func From(at time.Duration) PlayerOption { return func(p *Player) { p.from = at } }

// To ends the tape behind a position.
func To(at time.Duration) PlayerOption { return func(p *Player) { p.to = at } }

// Loop starts again at the end: a rewind, with all that it means for watches
// and versions (see [Cluster.Rewind]).
func Loop() PlayerOption { return func(p *Player) { p.loop = true } }

// IdleLimit shortens stretches in which nothing happens.
func IdleLimit(d time.Duration) PlayerOption { return func(p *Player) { p.pace.limit = max(d, 0) } }

// StartPaused waits for Resume, Step or Seek.
func StartPaused() PlayerOption { return func(p *Player) { p.pace.paused = true } }

// StayOpen makes Run wait at the end of the tape, for a Seek or for its
// context to end.
func StayOpen() PlayerOption { return func(p *Player) { p.keep = true } }

// WithCluster passes options on to the Cluster.
func WithCluster(opts ...ClusterOption) PlayerOption {
	return func(p *Player) { p.options = append(p.options, opts...) }
}

// NewPlayer opens a tape and reads its header. The Cluster is empty until Open,
// Run, Step or Seek. Close the Player when done.
func NewPlayer(src Source, opts ...PlayerOption) (*Player, error) {
	p := &Player{
		source: src, clock: clock.RealClock{}, to: End, every: keyframeEvery,
		kick: make(chan struct{}, 1), pace: TimeMap{speed: 1},
	}
	for _, o := range opts {
		o(p)
	}
	if !p.pace.speed.valid() {
		return nil, fmt.Errorf("speed %v: want between %gx and %gx, or max", p.pace.speed, slowest, fastest)
	}
	if p.from < 0 || p.to < p.from {
		return nil, fmt.Errorf("from %s to %s: want a part of the tape, from 0s on", p.from, p.to)
	}
	stream, err := src.Open()
	if err != nil {
		return nil, err
	}
	p.stream = stream
	p.cluster = NewCluster(stream.Header(), p.options...)
	p.pace.wall = p.clock.Now()
	return p, nil
}

// Cluster is the state that the Player moves.
func (p *Player) Cluster() *Cluster { return p.cluster }

// Header is the tape's header.
func (p *Player) Header() *timeline.Header { return p.cluster.header }

// Close closes the tape. It doesn't end Run: its context does.
func (p *Player) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next, p.ended = nil, true
	if p.err == nil {
		p.err = errClosed
	}
	return p.stream.Close()
}

var errClosed = errors.New("the player is closed")

// peek reads the next event; nil at the end.
func (p *Player) peek() (*timeline.Event, error) {
	if p.next != nil || p.err != nil || p.ended {
		return p.next, p.err
	}
	ev, err := p.stream.Next()
	switch {
	case errors.Is(err, io.EOF):
		p.ended = true
		return nil, nil
	case err != nil:
		p.err = err
		return nil, err
	case ev.At > p.to:
		p.ended = true
		return nil, nil
	}
	p.pace.observe(ev.At, ev.Type == timeline.Sync)
	p.ahead = ev
	p.next = &p.ahead
	return p.next, nil
}

// apply takes the event that was read ahead.
func (p *Player) apply() (changed bool, err error) {
	ev := p.ahead
	p.next, p.ahead = nil, timeline.Event{}
	changed, err = p.cluster.Apply(ev)
	if err != nil {
		var e *EventError
		if errors.As(err, &e) {
			e.Number = p.number + 1
		}
		p.err = err
		return changed, err
	}
	p.number++
	p.at = ev.At
	if ev.Type == timeline.Mark && (len(p.marks) == 0 || p.marks[len(p.marks)-1].Number < p.number) {
		p.marks = append(p.marks, Marker{Name: ev.Name, At: ev.At, Number: p.number})
	}
	p.note(Note{Kind: Applied, Event: ev, Changed: changed})
	p.keyframe()
	return changed, nil
}

// Open applies the initial lists: what stands at the first moment of the tape
// up to the first event that happened. Run, Step and Seek begin with it; a
// client that lists before it would see an empty cluster.
func (p *Player) Open() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.open()
	return err
}

func (p *Player) open() (changed bool, err error) {
	if p.opened {
		return false, p.err
	}
	p.opened, p.opening = true, true
	defer func() { p.opening = false }()
	first := time.Duration(-1)
	for {
		ev, err := p.peek()
		if err != nil {
			return changed, err
		}
		if ev == nil || first >= 0 && ev.At > first || !p.cluster.lists(*ev) {
			if ev == nil || ev.At > p.at {
				changed = p.cluster.Settle() || changed
			}
			return changed, nil
		}
		first = ev.At
		did, err := p.apply()
		if err != nil {
			return changed, err
		}
		changed = changed || did
	}
}

// Step applies the next event, and with it what takes effect at the same
// time: the initial lists, or what a GAP's SYNC ends. It returns io.EOF at the
// end of the tape. It doesn't wait, and leaves Run, if that goes on, to
// continue from the new position.
func (p *Player) Step() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.from > 0 && !p.opened {
		return p.seek(context.Background(), p.from)
	}
	defer p.anchor()
	if changed, err := p.open(); changed || err != nil {
		return err
	}
	for {
		ev, err := p.peek()
		if err != nil {
			return err
		}
		if ev == nil {
			if p.cluster.Settle() {
				return nil
			}
			return io.EOF
		}
		if ev.At > p.at && p.cluster.Settle() {
			return nil
		}
		kind := ev.Type
		changed, err := p.apply()
		if err != nil || changed || kind == timeline.Mark || kind == timeline.End {
			return err
		}
	}
}

// Upcoming returns the position of the next event; ok is false at the end.
func (p *Player) Upcoming() (at time.Duration, ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ev, err := p.peek()
	if ev == nil {
		return 0, false, err
	}
	return ev.At, true, nil
}
