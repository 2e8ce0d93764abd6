package replay

import (
	"time"

	"k8s.io/utils/clock"
)

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

// KeepPace makes Run wait at maximum speed while an open watch has more than n
// events to read: nobody is dropped, and no more is held in memory. A reader
// that doesn't come back holds the tape up until its watch is stopped; at any
// other speed nobody does.
func KeepPace(n int) PlayerOption { return func(p *Player) { p.lag = n } }

// WithCluster passes options on to the Cluster.
func WithCluster(opts ...ClusterOption) PlayerOption {
	return func(p *Player) { p.options = append(p.options, opts...) }
}
