package controller

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// A periodicTask calls one function again and again, never twice at once: each call says after which pause the next one is due.
// At rest it is a timer and no goroutine, so that the timers of the Go runtime are the one wheel on which the loops of
// thousands of nodes turn.
type periodicTask struct {
	ctx   context.Context // no call begins after its end
	clock clock.WithDelayedExecution
	task  func(context.Context) time.Duration

	mu      sync.Mutex
	timer   clock.Timer // to the next call; nil before start and during a call
	started bool
	running bool
	again   bool // kicked before start or during a call
	stopped bool
	idle    chan struct{} // closed when stopped, and the last call has returned
}

func newPeriodicTask(ctx context.Context, c clock.WithDelayedExecution, beat func(context.Context) time.Duration) *periodicTask {
	return &periodicTask{ctx: ctx, clock: c, task: beat, idle: make(chan struct{})}
}

// start begins with a call after the given time, or at once if it was kicked before.
func (r *periodicTask) start(first time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped || r.started {
		return
	}
	r.started = true
	if r.again || first <= 0 {
		r.begin()
		return
	}
	r.rest(first)
}

// trigger makes the next call begin now, or, during a call, right after it: what the caller has seen before the kick, that
// call sees.
func (r *periodicTask) trigger() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stopped:
	case !r.started || r.running:
		r.again = true
	default:
		r.begin()
	}
}

// stop ends the task, and returns a channel that is closed when no call is under way any more.
func (r *periodicTask) stop() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.stopped = true
		if r.timer != nil {
			r.timer.Stop()
		}
		if !r.running {
			close(r.idle)
		}
	}
	return r.idle
}

// begin wants r.mu held, and no call under way.
func (r *periodicTask) begin() {
	r.take()
	go r.run()
}

// take has the caller be the one that calls. It wants r.mu held, and no call under way.
func (r *periodicTask) take() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	r.running, r.again = true, false
}

// rest wants r.mu held. The timer's function takes no lock: a FakeClock calls it with its own lock held.
func (r *periodicTask) rest(pause time.Duration) {
	r.timer = r.clock.AfterFunc(pause, func() { go r.due() })
}

func (r *periodicTask) due() {
	r.mu.Lock()
	mine := !r.stopped && !r.running
	if mine {
		r.take()
	}
	r.mu.Unlock()
	if mine {
		r.run()
	}
}

func (r *periodicTask) run() {
	for {
		var pause time.Duration
		if r.ctx.Err() == nil {
			pause = r.task(r.ctx)
		}
		r.mu.Lock()
		ended := r.ctx.Err() != nil
		if !r.stopped && !ended && (r.again || pause <= 0) {
			r.again = false
			r.mu.Unlock()
			continue
		}
		r.running = false
		switch {
		case r.stopped:
			close(r.idle)
		case !ended:
			r.rest(pause)
		}
		r.mu.Unlock()
		return
	}
}
