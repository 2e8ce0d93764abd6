package live

import (
	"math"
	"time"

	"k8s.io/utils/clock"
)

// maxCatchUp bounds the wall time that one step may catch up. What takes longer (a suspended machine, a request that
// hung) shifts the scenario against the wall instead of being made up for at once.
const maxCatchUp = 2 * time.Second

// maxRebases bounds how many shifts are remembered; older ones are told as if they
// had been one.
const maxRebases = 256

// A pace joins the moments of a scenario with those of the wall. It goes by the
// monotonic clock, so that a wall clock that is set changes nothing. It is for one
// goroutine.
type pace struct {
	clock   clock.PassiveClock
	speed   float64
	rebases []rebase // never empty; the last holds now
	last    time.Time
	lost    time.Duration
}

// A rebase is a moment from which on the scenario goes at its speed again.
type rebase struct {
	at   time.Duration
	wall time.Time
}

func newPace(c clock.PassiveClock, speed float64, at time.Duration) *pace {
	p := &pace{clock: c, speed: speed}
	p.restart(at)
	return p
}

// restart has the scenario be at a moment now.
func (p *pace) restart(at time.Duration) {
	p.last = p.clock.Now()
	p.rebases = []rebase{{at, p.last}}
}

// now is the moment of the scenario up to which it may go on.
func (p *pace) now() time.Duration {
	wall := p.clock.Now()
	b := p.rebases[len(p.rebases)-1]
	passed := wall.Sub(p.last)
	switch {
	case passed < 0: // can't be of a monotonic clock
		wall = p.last
	case passed > maxCatchUp:
		p.lost += passed - maxCatchUp
		b = p.shift(p.forward(b, p.last.Add(maxCatchUp)), wall)
	}
	p.last = wall
	return p.forward(b, wall)
}

// reached says that the scenario has come to a moment up to which it might go on. If a request held it up on the way
// for longer than maxCatchUp, that moment is now: what is heard next happens after the request, not before. It reports
// whether that is so.
func (p *pace) reached(at time.Duration) bool {
	wall := p.clock.Now()
	passed := wall.Sub(p.last)
	if passed <= maxCatchUp {
		return false
	}
	p.lost += passed
	p.shift(at, wall)
	p.last = wall
	return true
}

// shift has the scenario be at a moment at that time of the wall.
func (p *pace) shift(at time.Duration, wall time.Time) rebase {
	if len(p.rebases) == maxRebases {
		p.rebases = append(p.rebases[:0], p.rebases[maxRebases/2:]...)
	}
	b := rebase{at, wall}
	p.rebases = append(p.rebases, b)
	return b
}

func (p *pace) forward(b rebase, wall time.Time) time.Duration {
	d := float64(wall.Sub(b.wall)) * p.speed
	if d >= float64(math.MaxInt64-b.at) {
		return math.MaxInt64
	}
	return b.at + time.Duration(d)
}

// until returns the wall time left from now until a moment of the scenario.
func (p *pace) until(at time.Duration) time.Duration {
	left := float64(at-p.forward(p.rebases[len(p.rebases)-1], p.clock.Now())) / p.speed
	// Rounded up, so that the moment has come when the time has passed.
	return time.Duration(min(max(left, 0), float64(time.Hour))) + time.Microsecond
}

// wall is when a moment of the scenario was, or will be if nothing more is lost.
func (p *pace) wall(at time.Duration) time.Time {
	i := len(p.rebases) - 1
	for i > 0 && p.rebases[i].at > at {
		i--
	}
	b := p.rebases[i]
	w := b.wall.Add(time.Duration(float64(at-b.at) / p.speed))
	if i+1 < len(p.rebases) && w.After(p.rebases[i+1].wall) {
		w = p.rebases[i+1].wall
	}
	return w
}
