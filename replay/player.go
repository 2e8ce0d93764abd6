package replay

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/replay/internal/option"
	"github.com/nodesim/nodesim/timeline"
)

// Player moves a Cluster along a tape: at a pace, step by step, or to a
// position. How it gets there changes when an event is shown, never which
// events or in which order.
//
// Methods may be called from any goroutine, before Run, beside it and after
// it. None but Run and Seek takes longer than the events that it applies. The
// Player starts no goroutine of its own.
type Player struct {
	source           timeline.Source
	cluster          *Cluster
	clock            clock.Clock
	from             time.Duration
	to               time.Duration
	loop             bool
	keep             bool
	every            int // events between keyframes; 0 for none
	options          []ClusterOption
	newFaultInjector func(*timeline.Header) (FaultInjector, error)
	lag              int           // at maximum speed watches stay closer than this; 0 for any distance
	engine           Engine        // what makes the events; nil for a tape
	reached          time.Duration // the Engine's time
	writes           writes        // of clients, at the last moment

	kick  chan struct{}           // wakes Run after a change of pace or position
	shown atomic.Pointer[TimeMap] // what TimeMap returns

	mu      sync.Mutex
	stream  timeline.Stream
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

// NewPlayer opens a tape and reads its header. The Cluster is empty until Open,
// Run, Step or Seek. Close the Player when done.
func NewPlayer(src timeline.Source, opts ...Option) (*Player, error) {
	p := newPlayer()
	if err := option.Refuse("replay.NewPlayer", option.Apply(p, opts), "those of package replay, and fault.Inject"); err != nil {
		return nil, err
	}
	stream, err := src.Open()
	if err != nil {
		return nil, err
	}
	p.source = src
	if err := p.start(stream); err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	return p, nil
}

func newPlayer() *Player {
	return &Player{
		clock: clock.RealClock{}, to: End, every: keyframeEvery,
		kick: make(chan struct{}, 1), pace: TimeMap{speed: 1},
	}
}

// start makes the cluster of a stream, with the options that are set.
func (p *Player) start(stream timeline.Stream) error {
	if !p.pace.speed.valid() {
		return fmt.Errorf("speed %v: want between %s and %s, or max", p.pace.speed, Speed(slowest), Speed(fastest))
	}
	if p.from < 0 || p.to < p.from {
		return fmt.Errorf("from %s to %s: want a part of the tape, from 0s on", p.from, p.to)
	}
	if p.newFaultInjector != nil {
		i, err := p.newFaultInjector(stream.Header())
		if err != nil {
			return err
		}
		if err := p.keepsState(i); err != nil {
			return err
		}
		if i != nil {
			p.options = append(p.options, WithFaultInjector(i))
		}
	}
	p.stream = stream
	p.cluster = NewCluster(stream.Header(), p.options...)
	if p.cluster.faultInjector != nil {
		p.every = 0 // it has to learn of every event again
	}
	p.pace.wall = p.clock.Now()
	p.publish()
	return nil
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

// peek reads the next event; nil at the end, and where an Engine has made none.
func (p *Player) peek() (*timeline.Event, error) {
	if p.next != nil || p.err != nil || p.ended {
		return p.next, p.err
	}
	ev, err := p.stream.Next()
	switch {
	case IsNoEvent(err):
		return nil, nil
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
	if p.pace.observe(ev.At, ev.Type == timeline.Sync) {
		p.publish()
	}
	p.ahead = ev
	p.next = &p.ahead
	return p.next, nil
}

// apply takes the event that was read ahead.
func (p *Player) apply() (changed bool, err error) {
	ev := p.ahead
	p.next, p.ahead = nil, timeline.Event{}
	if p.engine != nil {
		ev.Object = p.cluster.whole(&ev)
	}
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
