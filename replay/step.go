package replay

import (
	"context"
	"io"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// Open applies the initial lists: what is at the first moment of the tape
// up to the first event that happened, and with From what is before that.
// Run, Step and Seek begin with it; a client that lists before it would see an
// empty cluster.
func (p *Player) Open() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.from > 0 && !p.opened {
		return p.seek(context.Background(), p.from)
	}
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
// time: the initial lists, or what a GAP's SYNC ends. What a FaultInjector does
// between two events is a step of its own. It returns io.EOF at the end of the
// tape. It doesn't wait, and leaves Run, if that continues, to
// continue from the new position.
func (p *Player) Step() error { return p.StepTo(End) }

// StepTo is Step, but for what comes after a position: from the initial lists, or
// the position of From, it goes no further, lets a FaultInjector do what is due up
// to there, and then returns io.EOF, as at the end of the tape.
func (p *Player) StepTo(to time.Duration) error {
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
		if ev == nil && p.engine != nil {
			if p.cluster.Settle() {
				return nil
			}
			at, ok := p.nextDue()
			if !ok || at > to {
				return io.EOF
			}
			if err := p.passTo(at); err != nil {
				return err
			}
			continue
		}
		if ev == nil || ev.At > to {
			settled := p.cluster.Settle()
			if p.cluster.Pass(to) || settled {
				return nil
			}
			return io.EOF
		}
		if ev.At > p.at && (p.cluster.Settle() || p.cluster.Pass(ev.At)) {
			return nil
		}
		kind := ev.Type
		changed, err := p.apply()
		if err != nil || changed || kind == timeline.Mark || kind == timeline.End {
			return err
		}
	}
}

// Upcoming returns the position of the next event; ok is false at the end. Of an
// [Engine] it is the moment when something happens next, which may make no event.
func (p *Player) Upcoming() (at time.Duration, ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ev, err := p.peek()
	if ev == nil && err == nil && p.engine != nil {
		at, ok = p.nextDue()
		return at, ok, nil
	}
	if ev == nil {
		return 0, false, err
	}
	return ev.At, true, nil
}
