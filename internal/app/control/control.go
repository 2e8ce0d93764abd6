package control

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
)

// Sources hold what a Control knows of a replay besides the Player: each may be nil,
// and is called from any goroutine.
type Sources struct {
	// Transitions counts what a step to a transition leads to, in the feed up to the
	// Player's last event, rewinds not taken off. Without it no step leads to one.
	Transitions func() int
	// Since returns the entries that Transitions has counted since it was n, the last
	// ones where there are many.
	Since func(n int) []noderoll.Entry
	// Summary holds what is known of the whole tape; zero while it isn't.
	Summary func() replay.Summary
	// Faults are those that were fired so far.
	Faults func() []Fault
	// Do has a fault happen in the cluster that is played, where it isn't a tape; nil where it is. The text is that of a
	// scenario file.
	Do func(fault string) error
}

// Control moves one Player for several callers. Its methods may be called from
// any goroutine.
type Control struct {
	player  *replay.Player
	sources Sources
	turn    chan struct{} // holds a value while a client steps or seeks

	mu  sync.Mutex
	set []Marker // in the order in which they were set
}

// New returns a Control over a Player. Whether anybody runs the Player, and when,
// doesn't matter to it.
func New(p *replay.Player, e Sources) *Control {
	if e.Summary == nil {
		e.Summary = func() replay.Summary { return replay.Summary{} }
	}
	if e.Since == nil {
		e.Since = func(int) []noderoll.Entry { return nil }
	}
	if e.Do == nil {
		e.Do = func(string) error {
			return errors.New("a tape can't be changed: want nodesim serve --writes act for a cluster in which a fault can happen")
		}
	}
	if e.Faults == nil {
		e.Faults = func() []Fault { return nil }
	}
	return &Control{player: p, sources: e, turn: make(chan struct{}, 1)}
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

// Resume lets it continue.
func (c *Control) Resume() { c.player.Resume() }

// Toggle pauses what continues and resumes what is paused.
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
func (c *Control) Duration() time.Duration { return c.sources.Summary().Duration }

// Status says where the replay is now.
func (c *Control) Status() Status {
	s := c.player.Status()
	status := Status{
		APIVersion: APIVersion, Kind: KindStatus,
		Tape: c.player.Header().Metadata.Name, Position: Seconds(s.Position), Event: Seconds(s.Event), Events: s.Number,
		Duration: Seconds(c.Duration()), Speed: s.Speed.String(), Paused: s.Paused, Ended: s.Ended,
		Rewinds: s.Rewinds, Markers: c.Markers(), Watches: c.watches(), Faults: slices.Clone(c.sources.Faults()),
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
