package control

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
)

// Eyes are what a Control knows of a replay besides the Player: each may be nil,
// and is called from any goroutine.
type Eyes struct {
	// Transitions counts the node transitions of the feed up to the Player's last
	// event, rewinds not taken off. Without it no step leads to one.
	Transitions func() int
	// Survey is what is known of the whole tape; zero while it isn't.
	Survey func() replay.Survey
	// Faults are those that were fired so far.
	Faults func() []Fault
}

// Control moves one Player for several callers. Its methods may be called from
// any goroutine.
type Control struct {
	player *replay.Player
	eyes   Eyes
	turn   chan struct{} // holds a value while somebody steps or seeks

	mu  sync.Mutex
	set []Marker // in the order in which they were set
}

// New returns a Control over a Player. Whether anybody runs the Player, and when,
// doesn't matter to it.
func New(p *replay.Player, e Eyes) *Control {
	if e.Survey == nil {
		e.Survey = func() replay.Survey { return replay.Survey{} }
	}
	if e.Faults == nil {
		e.Faults = func() []Fault { return nil }
	}
	return &Control{player: p, eyes: e, turn: make(chan struct{}, 1)}
}

// take waits for the caller's turn, and returns how to end it.
func (c *Control) take(ctx context.Context) (done func(), err error) {
	select {
	case c.turn <- struct{}{}:
		return func() { <-c.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Pause stops the tape between two events.
func (c *Control) Pause() { c.player.Pause() }

// Resume lets it go on.
func (c *Control) Resume() { c.player.Resume() }

// Toggle pauses what goes on and resumes what is paused.
func (c *Control) Toggle() {
	if c.player.Status().Paused {
		c.player.Resume()
		return
	}
	c.player.Pause()
}

// Seek goes to a position; see [replay.Player.Seek].
func (c *Control) Seek(ctx context.Context, to time.Duration) error {
	done, err := c.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	return c.player.Seek(ctx, to)
}

// Skip goes forward, or back, by a time of tape.
func (c *Control) Skip(ctx context.Context, by time.Duration) error {
	done, err := c.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	return c.player.Seek(ctx, max(c.player.Position()+by, 0))
}

// SetSpeed changes the pace.
func (c *Control) SetSpeed(s replay.Speed) { c.player.SetSpeed(s) }

// fastestPaced is the highest speed of Faster that still waits for the tape.
const fastestPaced = 1024

// Faster doubles the speed; beyond 1024x it is the highest that there is.
func (c *Control) Faster() {
	s := c.player.Status().Speed * 2
	if s > fastestPaced {
		s = replay.Max
	}
	c.player.SetSpeed(s)
}

// Slower halves the speed; from the highest it comes back to 1024x.
func (c *Control) Slower() {
	c.player.SetSpeed(min(c.player.Status().Speed, 2*fastestPaced) / 2)
}

// Duration is the position of the tape's last event, or 0 where it isn't known.
func (c *Control) Duration() time.Duration { return c.eyes.Survey().Duration }

// Markers are those that were set, and those of the tape as far as they are
// known, in the order of their positions.
func (c *Control) Markers() []Marker {
	tape := c.eyes.Survey().Markers
	if read := c.player.Markers(); len(read) > len(tape) {
		tape = read
	}
	markers := make([]Marker, 0, len(tape))
	for _, m := range tape {
		markers = append(markers, Marker{Name: m.Name, At: Seconds(m.At)})
	}
	c.mu.Lock()
	markers = append(markers, c.set...)
	c.mu.Unlock()
	slices.SortStableFunc(markers, func(a, b Marker) int { return int(min(max(a.At-b.At, -1), 1)) })
	return markers
}

// The limits of what can be set.
const (
	mostMarkers   = 1000
	longestMarker = 200 // bytes
)

// Mark sets a marker at the present position.
func (c *Control) Mark(name string) error {
	switch {
	case name == "" || name != noderoll.OneLine(name):
		return fmt.Errorf("name %q: want a line of text", name)
	case len(name) > longestMarker:
		return fmt.Errorf("name: has %d bytes: want at most %d", len(name), longestMarker)
	}
	at := c.player.Position()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.set) == mostMarkers {
		return fmt.Errorf("name %q: %d markers are set already, and no more can be", name, mostMarkers)
	}
	c.set = append(c.set, Marker{Name: name, At: Seconds(at), Set: true})
	return nil
}

// justPassed is how near behind a marker, in tape time, the one before is meant
// by going back: who looks for it a second time while the tape goes on isn't held
// where he is.
const justPassed = time.Second

// NextMarker goes to the next marker; where there is none, it stays.
func (c *Control) NextMarker(ctx context.Context) error {
	at := c.player.Position()
	for _, m := range c.Markers() {
		if time.Duration(m.At) > at {
			return c.Seek(ctx, time.Duration(m.At))
		}
	}
	return nil
}

// PreviousMarker goes back to the last marker, or to the one before that where
// the tape has just come by it; where there is none, it stays.
func (c *Control) PreviousMarker(ctx context.Context) error {
	s := c.player.Status()
	at := s.Position
	if !s.Paused {
		at -= justPassed
	}
	for _, m := range slices.Backward(c.Markers()) {
		if time.Duration(m.At) < at {
			return c.Seek(ctx, time.Duration(m.At))
		}
	}
	return nil
}

// Status says where the replay is now.
func (c *Control) Status() Status {
	s := c.player.Status()
	status := Status{
		APIVersion: APIVersion, Kind: KindStatus,
		Tape: c.player.Header().Metadata.Name, Position: Seconds(s.Position), Event: Seconds(s.Event), Events: s.Number,
		Duration: Seconds(c.Duration()), Speed: s.Speed.String(), Paused: s.Paused, Ended: s.Ended,
		Rewinds: s.Rewinds, Markers: c.Markers(), Watches: c.watches(), Faults: slices.Clone(c.eyes.Faults()),
	}
	if status.Faults == nil {
		status.Faults = []Fault{}
	}
	if s.Err != nil {
		status.Error = noderoll.OneLine(s.Err.Error())
	}
	return status
}

// watches are the open ones, by resource.
func (c *Control) watches() []Watch {
	open := c.player.Cluster().Watches()
	all := make([]Watch, 0, len(open))
	for _, w := range open {
		resource := w.Resource.Resource
		if w.Resource.Group != "" {
			resource += "." + w.Resource.Group
		}
		all = append(all, Watch{
			Resource: resource, Namespace: w.Namespace,
			LabelSelector: w.LabelSelector, FieldSelector: w.FieldSelector, Version: w.Version, Lag: w.Lag,
		})
	}
	slices.SortFunc(all, compareWatches)
	return all
}
