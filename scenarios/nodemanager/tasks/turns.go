package tasks

import (
	"iter"
	"slices"
	"time"
)

// Turns runs tasks one after the other, in the time of an event loop, in place of goroutines. A task goes on until it waits;
// when something changes, each task whose wait is over goes on in its turn, in the order in which they were started. So the
// same calls come in the same order every time.
//
// A Turns and what it runs are for one goroutine, that of the loop. A task may wait by this package alone, and not while it
// holds a lock.
type Turns struct {
	after   func(time.Duration, func())
	tasks   []*turn // those that haven't ended, in the order of their start
	current *turn
	asked   bool // a round is about to come
}

// turn is a task: a coroutine, and what it waits for.
type turn struct {
	goOn  func() (struct{}, bool)
	pause func(struct{}) bool
	ready func() bool // nil for one that hasn't begun
	ended bool
}

// NewTurns returns a Turns without tasks. after has a function called when a time of the loop has passed, and not before it
// returns.
func NewTurns(after func(time.Duration, func())) *Turns { return &Turns{after: after} }

// Run has a task begin at this moment of the loop.
func (t *Turns) Run(f func()) {
	one := &turn{}
	one.goOn, _ = iter.Pull(func(pause func(struct{}) bool) {
		one.pause = pause
		f()
	})
	t.tasks = append(t.tasks, one)
	t.Changed()
}

// Changed says that something has changed that a task may wait for.
func (t *Turns) Changed() {
	if t.asked || t.current != nil { // the round that goes on asks all of them again
		return
	}
	t.asked = true
	t.after(0, func() {
		t.asked = false
		t.round()
	})
}

// round lets every task go on that can, until none can.
func (t *Turns) round() {
	for again := true; again; {
		again = false
		for i := 0; i < len(t.tasks); i++ { // tasks start tasks
			one := t.tasks[i]
			if one.ready != nil && !one.ready() {
				continue
			}
			again = true
			t.current = one
			_, alive := one.goOn()
			t.current = nil
			one.ended = !alive
		}
		t.tasks = slices.DeleteFunc(t.tasks, func(one *turn) bool { return one.ended })
	}
}

// Wait returns once ready returns true, which is called now and whenever something has changed. Only a task may call it: a call
// outside of Run that would have to wait is an error of the caller's program, and panics.
func (t *Turns) Wait(ready func() bool) {
	if ready() {
		return
	}
	one := t.current
	if one == nil {
		panic("tasks: Wait was called outside of a task: want it within Turns.Run")
	}
	one.ready = ready
	one.pause(struct{}{})
}
