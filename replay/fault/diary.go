package fault

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/replay"
)

// appointment is an action at a position.
type appointment struct {
	due     time.Duration
	arm     *rule           // may be nil
	signals []replay.Signal // what is let go
}

// Due implements replay.Interferer.
func (in *injector) Due() (at time.Duration, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, a := range in.diary {
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

// Pass implements replay.Interferer. After the end nothing fires any more, and
// all that is held back is let go.
func (in *injector) Pass(at time.Duration) (signals []replay.Signal) {
	in.mu.Lock()
	defer in.mu.Unlock()
	due := slices.Clone(in.diary)
	in.diary = slices.DeleteFunc(in.diary, func(a *appointment) bool { return a.due <= at })
	slices.SortStableFunc(due, func(a, b *appointment) int { return int(min(max(a.due-b.due, -1), 1)) })
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

// later makes an appointment d from now; none of length 0 ends before the tape.
func (in *injector) later(d time.Duration, signals ...replay.Signal) *appointment {
	a := &appointment{due: in.now + d, signals: signals}
	if d == 0 || a.due < in.now {
		a.due = replay.End
	}
	in.diary = append(in.diary, a)
	return a
}

// early lets an appointment come at once.
func (in *injector) early(a *appointment) []replay.Signal {
	in.diary = slices.DeleteFunc(in.diary, func(b *appointment) bool { return b == a })
	return a.signals
}

// arm says that a rule's moment has come. One that needs no event fires.
func (in *injector) arm(r *rule) []replay.Signal {
	r.trigger.arm(in.now)
	r.requests.arm(in.now)
	if r.window {
		in.diary = append(in.diary, &appointment{due: r.until}) // so that time passes to its end
	}
	if !r.alone || !r.fires(in.now) {
		return nil
	}
	f := Fired{At: in.now, Spec: r.given}
	if len(r.resources) == 1 {
		f.Resource = r.resources[0].String()
	}
	in.tell(f)
	return in.cut(r, r.resources)
}
