package fault

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/replay"
)

// timer is an action at a position.
type timer struct {
	due     time.Duration
	arm     *rule                 // may be nil
	signals []replay.StreamMarker // what is let go
}

// Due implements replay.FaultInjector.
func (in *injector) Due() (at time.Duration, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, a := range in.timers {
		if !ok || a.due < at {
			at, ok = a.due, true
		}
	}
	if in.follower != nil {
		if due, waits := in.follower.NextDeadline(); waits && due > in.advanced && (!ok || due < at) {
			at, ok = due, true
		}
	}
	return at, ok
}

// Pass implements replay.FaultInjector. After the end nothing fires any more, and
// all that is held back is let go.
func (in *injector) Pass(at time.Duration) (signals []replay.StreamMarker) {
	in.mu.Lock()
	defer in.mu.Unlock()
	due := slices.Clone(in.timers)
	in.timers = slices.DeleteFunc(in.timers, func(a *timer) bool { return a.due <= at })
	slices.SortStableFunc(due, func(a, b *timer) int { return int(min(max(a.due-b.due, -1), 1)) })
	for _, a := range due {
		if a.due > at {
			break
		}
		signals = append(signals, a.signals...)
	}
	if at == replay.End {
		return signals
	}
	in.now = max(in.now, at)
	for _, a := range due {
		if a.arm != nil && a.due <= at {
			signals = append(signals, in.arm(a.arm)...)
		}
	}
	if in.follower != nil && at >= in.advanced {
		in.advanced = at
		signals = append(signals, in.reached(in.follower.Advance(at))...)
	}
	return signals
}

// later starts a timer of d; none of length 0 ends before the tape.
func (in *injector) later(d time.Duration, signals ...replay.StreamMarker) *timer {
	a := &timer{due: in.now + d, signals: signals}
	if d == 0 || a.due < in.now {
		a.due = replay.End
	}
	in.timers = append(in.timers, a)
	return a
}

// early fires a timer at once.
func (in *injector) early(a *timer) []replay.StreamMarker {
	in.timers = slices.DeleteFunc(in.timers, func(b *timer) bool { return b == a })
	return a.signals
}

// arm says that a rule's moment has come. One that needs no event fires.
func (in *injector) arm(r *rule) []replay.StreamMarker {
	r.trigger.arm(in.now)
	r.requests.arm(in.now)
	if r.window {
		in.timers = append(in.timers, &timer{due: r.until}) // so that time passes to its end
	}
	if !r.alone || !r.fires(in.now) {
		return nil
	}
	f := Fired{At: in.now, Spec: r.given}
	if len(r.resources) == 1 {
		f.Resource = r.resources[0].String()
	}
	in.tell(f)
	return in.endStreams(r, r.resources)
}
