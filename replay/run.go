package replay

import (
	"context"
	"errors"
	"time"
)

// batch is the number of events applied before commands get their turn.
const batch = 256

// Run plays until the tape ends (nil), its context does (the context's error),
// or the tape proves bad (its error, everything before applied). With Loop or
// StayOpen it doesn't end by itself. One Run at a time; Run after Run continues
// where the first was.
func (p *Player) Run(ctx context.Context) error {
	if err := p.begin(ctx); err != nil {
		return err
	}
	defer func() {
		p.mu.Lock()
		p.hold()
		p.running = false
		p.publish()
		p.mu.Unlock()
	}()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		wait, done, err := p.advance(ctx)
		if err != nil || done {
			return err
		}
		if err := p.wait(ctx, wait); err != nil {
			return err
		}
	}
}

func (p *Player) begin(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running {
		return errors.New("the player runs already")
	}
	if !p.opened {
		if err := p.seek(ctx, p.from); err != nil {
			return err
		}
	}
	p.pace.wall = p.clock.Now()
	p.running = true
	p.publish()
	return nil
}

// forever waits for a command.
const forever = time.Duration(-1)

// wait lets a time pass, or a command or the context come.
func (p *Player) wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	var due <-chan time.Time
	if d > 0 {
		t := p.clock.NewTimer(d)
		defer t.Stop()
		due = t.C()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.kick:
	case <-due:
	}
	return nil
}

// advance applies what is due, a batch of it at most, and says how long to
// wait for the rest. The clock is read once, and not at all at maximum speed.
func (p *Player) advance(ctx context.Context) (wait time.Duration, done bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pace.paused {
		return forever, false, p.err
	}
	var now time.Duration
	if !p.pace.speed.max() {
		now = p.pace.now(p.clock.Now())
	}
	if p.lag > 0 && p.pace.speed.max() && p.cluster.behind(p.lag, p.awake) {
		return forever, false, nil
	}
	if p.lag > 0 && p.pace.speed.max() {
		p.cluster.hold()
		defer p.cluster.release()
	}
	for range batch {
		ev, err := p.peek()
		if err != nil {
			return 0, true, err
		}
		if ev == nil && p.engine != nil {
			wait, err := p.quiet(now)
			if wait != 0 || err != nil {
				return wait, err != nil, err
			}
			continue
		}
		if ev == nil {
			return p.end(ctx)
		}
		if !p.pace.speed.max() && ev.At > p.at {
			if due := p.pace.Shown(ev.At); due > now {
				p.cluster.Settle()
				if at, ok := p.cluster.due(); ok && at < ev.At {
					between := p.pace.Shown(at)
					if between <= now {
						p.cluster.Pass(at)
						continue
					}
					due = min(due, between)
				}
				return p.pause(due - now), false, nil
			}
		}
		if _, err := p.apply(); err != nil {
			return 0, true, err
		}
	}
	return 0, false, nil
}

// pause is how long a shown time takes: at least a nanosecond, so that rounding
// can't make Run spin.
func (p *Player) pause(shown time.Duration) time.Duration {
	return max(scale(shown, 1/float64(p.pace.speed)), 1)
}

// end returns what happens after the last event.
func (p *Player) end(ctx context.Context) (wait time.Duration, done bool, err error) {
	p.cluster.Settle()
	p.cluster.Pass(End)
	if p.loop {
		if err := p.back(ctx, p.from); err != nil {
			return 0, true, err
		}
		p.anchor()
		p.note(Note{Kind: Moved})
		return 0, false, nil
	}
	if !p.told {
		p.told = true
		p.note(Note{Kind: Ended})
	}
	if p.keep {
		return forever, false, nil
	}
	return 0, true, nil
}

// anchor ties the present position to the present time: what comes is due
// from there on, at the present speed.
func (p *Player) anchor() {
	p.pace.shown = p.pace.Shown(p.at)
	p.pace.wall = p.clock.Now()
	p.publish()
}

// hold ties the present moment between two events to the present time.
func (p *Player) hold() {
	now := p.clock.Now()
	p.pace.shown = p.pace.Shown(p.position(now))
	p.pace.wall = now
}

// position is where the tape is at a time: between the last event and the
// next.
func (p *Player) position(now time.Time) time.Duration {
	if p.next == nil && p.engine == nil {
		return p.at
	}
	shown := p.pace.shown
	if p.running {
		shown = p.pace.now(now)
	}
	at := max(p.pace.Tape(shown), p.at, p.reached)
	if p.next != nil {
		at = min(at, p.next.At)
	}
	return at
}

func (p *Player) awake() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// Pause stops between two events, at once.
func (p *Player) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pace.paused {
		return
	}
	p.hold()
	p.pace.paused = true
	p.publish()
	p.note(Note{Kind: Paused})
	p.awake()
}

// Resume continues from where Pause stopped, or where Step and Seek have led to.
func (p *Player) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.pace.paused {
		return
	}
	p.pace.wall = p.clock.Now()
	p.pace.paused = false
	p.publish()
	p.note(Note{Kind: Resumed})
	p.awake()
}

// SetSpeed changes the pace from the present moment on. A speed of less than
// 0.001x or more than 1,000,000x but Max becomes the nearest that is allowed;
// of an [Engine], Max too.
func (p *Player) SetSpeed(s Speed) {
	if !s.valid() {
		if s > fastest {
			s = fastest
		} else {
			s = slowest
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.engine != nil && s.max() {
		s = fastest
	}
	p.hold()
	p.pace.speed = s
	p.publish()
	p.note(Note{Kind: SpeedChanged})
	p.awake()
}
