// Package tasks runs the goroutines of one owner, and joins them. In: functions, and a clock for their waits. Out: all of
// them have returned when End has. Nothing of the node manager but this package starts a goroutine. In a simulation, tasks
// take [Turns] in place of goroutines.
//
// What is run gets a context that ends with the group, and returns soon after. The package never drops an error: what
// a task finds out is the task's to report.
//
// Its API may still change (docs/stability.md).
package tasks

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Group is a set of tasks. Its methods may be called from any goroutine, tasks included, but for End.
type Group struct {
	ctx    context.Context
	cancel context.CancelFunc
	clock  clock.WithTicker
	turns  *Turns // nil where tasks are goroutines

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// New returns a group without tasks, whose waits are by a clock.
func New(c clock.WithTicker) *Group {
	g := &Group{clock: c}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// InTurns returns a group whose tasks take turns, and wait by the time of their loop.
func InTurns(t *Turns) *Group {
	g := New(nil)
	g.turns = t
	return g
}

// Context ends when the end of the group begins.
func (g *Group) Context() context.Context { return g.ctx }

// Run starts f unless the end has begun, and says whether it did.
func (g *Group) Run(f func(context.Context)) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	if g.turns != nil {
		g.turns.Run(func() { f(g.ctx) })
		return true
	}
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		f(g.ctx)
	}()
	return true
}

// Every runs f at each interval, one call after the other. The ticker is there when Every returns, so the clock may be
// stepped at once.
func (g *Group) Every(interval time.Duration, f func(context.Context)) {
	if g.turns != nil {
		g.Run(func(ctx context.Context) {
			for g.Pause(ctx, interval) {
				f(ctx)
			}
		})
		return
	}
	ticker := g.clock.NewTicker(interval)
	started := g.Run(func(ctx context.Context) {
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C():
				f(ctx)
			}
		}
	})
	if !started {
		ticker.Stop()
	}
}

// Within returns a context that ends with its parent, after a time, or when the caller calls the function, which it must.
func (g *Group) Within(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	if g.turns != nil {
		g.turns.after(d, func() {
			cancel()
			g.turns.Changed()
		})
		return ctx, cancel
	}
	timer := g.clock.NewTimer(d)
	started := g.Run(func(context.Context) {
		defer timer.Stop()
		select {
		case <-timer.C():
			cancel()
		case <-ctx.Done():
		}
	})
	if !started {
		timer.Stop()
		cancel()
	}
	return ctx, cancel
}

// Pause waits, and says whether the time is over and the context isn't.
func (g *Group) Pause(ctx context.Context, d time.Duration) bool {
	if g.turns != nil {
		over := false
		g.turns.after(d, func() {
			over = true
			g.turns.Changed()
		})
		g.turns.Wait(func() bool { return over || ctx.Err() != nil })
		return ctx.Err() == nil
	}
	timer := g.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// Await waits until a channel is closed. A task calls it.
func (g *Group) Await(closed <-chan struct{}) {
	if g.turns == nil {
		<-closed
		return
	}
	g.turns.Wait(func() bool {
		select {
		case <-closed:
			return true
		default:
			return false
		}
	})
}

// End lets nothing new start, ends the context of all tasks and waits for them. A task must not call it.
func (g *Group) End() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.cancel()
	if g.turns != nil {
		g.turns.round()
	}
	g.wg.Wait()
}

// EndWith calls end when quit is closed or the end of the group begins otherwise. It returns at once; the WaitGroup, if
// not nil, is one up from now until end has returned. Where tasks take turns, it does nothing: their loop's owner calls end.
func (g *Group) EndWith(quit <-chan struct{}, wg *sync.WaitGroup, end func()) {
	if g.turns != nil {
		return
	}
	if wg != nil {
		wg.Add(1)
	}
	go func() {
		if wg != nil {
			defer wg.Done()
		}
		select {
		case <-quit:
		case <-g.ctx.Done():
		}
		end()
	}()
}
