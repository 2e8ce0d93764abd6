// Package loop is the event loop of the simulation: one queue of calls, each at a
// moment of the tape, made one after the other.
//
// What goes in: functions and when to call them. What comes out: their calls,
// in the order of their moments and, within one moment, in the order in which
// they were put in. So the same program gives the same calls, whatever the
// machine. The loop waits for nothing: its time jumps from one moment to the
// next. It reads no clock and starts no goroutine, and is for one goroutine.
package loop

import (
	"errors"
	"fmt"
	"time"
)

// busiest bounds the number of calls at one moment. More are a loop without end: a million nodes that act
// at once make fewer.
const busiest = 20_000_000

// Loop is the queue and its clock. The zero Loop is at 0s and empty.
type Loop struct {
	now     time.Duration
	seq     uint64
	queue   []entry
	stopped bool
	failed  error
}

// entry is one call. The queue is a heap of them, four children to a
// parent, which keeps it flat.
type entry struct {
	at    time.Duration
	seq   uint64
	do    func()
	timer *Timer // in do's place
}

func (e entry) before(f entry) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

// Now returns the moment of the tape.
func (l *Loop) Now() time.Duration { return l.now }

// At has do called at a moment, or now where that has passed: after all calls added for the same moment before.
func (l *Loop) At(at time.Duration, do func()) {
	l.seq++
	l.push(entry{at: max(at, l.now), seq: l.seq, do: do})
}

// After has do called when d has passed.
func (l *Loop) After(d time.Duration, do func()) { l.At(l.now+max(d, 0), do) }

// A Timer is a call that can be cancelled.
type Timer struct{ do func() }

// Timer is After with a handle.
func (l *Loop) Timer(d time.Duration, do func()) *Timer {
	t := &Timer{do}
	l.seq++
	l.push(entry{at: l.now + max(d, 0), seq: l.seq, timer: t})
	return t
}

func (t *Timer) fire() {
	if do := t.do; do != nil {
		t.do = nil
		do()
	}
}

// Pending reports whether the call is still to come. A nil Timer has none.
func (t *Timer) Pending() bool { return t != nil && t.do != nil }

// Stop cancels the call; a second time, or after the call, it does nothing.
func (t *Timer) Stop() {
	if t != nil {
		t.do = nil
	}
}

// Stop ends Run after the call that is being made.
func (l *Loop) Stop() { l.stopped = true }

// Fail ends Run with an error. The first one counts.
func (l *Loop) Fail(err error) {
	if l.failed == nil {
		l.failed = err
	}
}

// ErrBusy is the error of a Run with too many calls at one moment.
var ErrBusy = errors.New("too many calls at one moment")

// Run makes the calls up to and including a moment, and leaves the clock there,
// unless Stop or Fail ended it before. What they put in is part of it.
func (l *Loop) Run(until time.Duration) error {
	busy, last := 0, l.now
	for l.failed == nil && !l.stopped && len(l.queue) > 0 && l.queue[0].at <= until {
		next := l.pop()
		l.now = next.at
		if busy++; l.now > last {
			busy, last = 0, l.now
		}
		if busy > busiest {
			return fmt.Errorf("at %s: %w: %d calls without end", l.now, ErrBusy, busy)
		}
		if next.timer != nil {
			next.timer.fire()
		} else {
			next.do()
		}
	}
	if l.failed == nil && !l.stopped {
		l.now = max(l.now, until)
	}
	return l.failed
}

// Next returns the moment of the next call, and whether there is one.
func (l *Loop) Next() (at time.Duration, is bool) {
	if len(l.queue) == 0 {
		return 0, false
	}
	return l.queue[0].at, true
}

// Stopped reports whether Stop was called.
func (l *Loop) Stopped() bool { return l.stopped }

func (l *Loop) push(e entry) {
	q := append(l.queue, e)
	i := len(q) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(q[parent]) {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = e
	l.queue = q
}

func (l *Loop) pop() entry {
	q := l.queue
	top, last := q[0], q[len(q)-1]
	q[len(q)-1] = entry{}
	q = q[:len(q)-1]
	l.queue = q
	if len(q) == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(q) {
			break
		}
		child := first
		for other := first + 1; other < min(first+4, len(q)); other++ {
			if q[other].before(q[child]) {
				child = other
			}
		}
		if last.before(q[child]) {
			break
		}
		q[i] = q[child]
		i = child
	}
	q[i] = last
	return top
}
