package replay

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/replay/internal/option"
)

// Option sets a Player up, or an adapter: all of them take this one type, and an
// adapter that makes its own Player hands on what isn't its own. What none
// wants is an error.
type Option = option.Option

// WithSpeed sets the pace; without it a tape plays at 1x.
func WithSpeed(s Speed) Option {
	return option.New("replay.WithSpeed", func(p *Player) { p.pace.speed = s })
}

// WithClock sets the clock that the pace is kept by, for tests. A FakeClock
// has to be stepped from event to event: it fires waiters in the order of
// their registration when one step jumps over several.
func WithClock(c clock.Clock) Option {
	return option.New("replay.WithClock", func(p *Player) { p.clock = c })
}

// From starts at a position; what is before it is applied at once.
func From(at time.Duration) Option { return option.New("replay.From", func(p *Player) { p.from = at }) }

// To ends the tape after a position.
func To(at time.Duration) Option { return option.New("replay.To", func(p *Player) { p.to = at }) }

// Loop starts again at the end: a rewind, with all that it means for watches
// and versions (see [Cluster.Rewind]).
func Loop() Option { return option.New("replay.Loop", func(p *Player) { p.loop = true }) }

// IdleLimit shortens stretches in which nothing happens.
func IdleLimit(d time.Duration) Option {
	return option.New("replay.IdleLimit", func(p *Player) { p.pace.limit = max(d, 0) })
}

// StartPaused waits for Resume, Step or Seek.
func StartPaused() Option {
	return option.New("replay.StartPaused", func(p *Player) { p.pace.paused = true })
}

// StayOpen makes Run wait at the end of the tape, for a Seek or for its
// context to end.
func StayOpen() Option { return option.New("replay.StayOpen", func(p *Player) { p.keep = true }) }

// KeepPace makes Run wait at maximum speed while an open watch has more than n
// events to read: no watch is dropped, and no more is held in memory. A reader
// that doesn't come back holds the tape up until its watch is stopped; at any
// other speed it doesn't wait.
func KeepPace(n int) Option { return option.New("replay.KeepPace", func(p *Player) { p.lag = n }) }

// WithNotes is [Player.Subscribe] from the beginning, the initial lists included.
func WithNotes(tell func(Note)) Option {
	return option.New("replay.WithNotes", func(p *Player) { p.subs = append(p.subs, &subscription{tell}) })
}

// WithCluster passes options on to the Cluster.
func WithCluster(opts ...ClusterOption) Option {
	return option.New("replay.WithCluster", func(p *Player) { p.options = append(p.options, opts...) })
}
