package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// A pinger asks the provider again and again whether the node lives, and keeps the newest answer. A Ping that doesn't
// return in time counts as failed from that moment on, whether or not it ever returns; no second one begins meanwhile.
type pinger struct {
	ping              func(context.Context) error
	interval, timeout time.Duration
	clock             clock.WithDelayedExecution
	jitter            func(time.Duration) time.Duration
	turned            func() // called when the node's health becomes doubtful, and when it is certain again
	task              *periodicTask
	rounds            int

	mu     sync.Mutex
	last   *answer
	flip   time.Time     // when the answers went from good to bad or back; zero if they never did
	newest chan struct{} // closed at the next answer; nil without a waiter
}

// An answer is the outcome of one Ping.
type answer struct {
	start time.Time
	err   error
}

// round is one turn of the task. The first two follow at once upon each other: the first one wakes a provider, the
// second one tells whether it is awake.
func (p *pinger) round(ctx context.Context) time.Duration {
	start := p.clock.Now()
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var once sync.Once
	late := p.clock.AfterFunc(p.timeout, func() {
		go once.Do(func() {
			p.setDesired(answer{start, fmt.Errorf("ping: no answer within %s: %w", p.timeout, context.DeadlineExceeded)})
			cancel(context.DeadlineExceeded)
		})
	})
	err := p.ping(bounded)
	late.Stop()
	if err != nil {
		err = fmt.Errorf("ping: %w", err)
	}
	if ctx.Err() == nil { // or else the provider may only have obeyed
		once.Do(func() { p.setDesired(answer{start, err}) })
	}
	if p.rounds++; p.rounds == 1 {
		return 0
	}
	return p.jitter(p.interval)
}

func (p *pinger) setDesired(a answer) {
	p.mu.Lock()
	turned := p.last != nil && (p.last.err == nil) != (a.err == nil) || p.last == nil && a.err != nil
	if turned {
		p.flip = a.start
	}
	p.last = &a
	if p.newest != nil {
		close(p.newest)
		p.newest = nil
	}
	p.mu.Unlock()
	if turned {
		p.turned()
	}
}

// health returns nil if the node is healthy, or the reason why it may not be. It waits for the first answer, and for
// a new one where the last good one is too old to believe: after the process, or the clock, has jumped. Either takes
// no longer than the timeout of a ping.
func (p *pinger) health(ctx context.Context) error {
	for {
		last, next := p.newer()
		switch {
		case last == nil:
		case last.err != nil:
			return last.err
		case p.clock.Since(last.start)-p.timeout-p.interval <= p.interval:
			return nil
		default:
			p.task.trigger()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-next:
		}
	}
}

func (p *pinger) newer() (last *answer, next <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newest == nil {
		p.newest = make(chan struct{})
	}
	return p.last, p.newest
}

// flipped is when the answers went from good to bad or back.
func (p *pinger) flipped() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flip
}
