package tasks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager/tasks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inBubble runs a test whose clock is stepped, and whose goroutines are all gone after it.
func inBubble(t *testing.T, test func(*tasks.Group, *clocktesting.FakeClock)) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		c := clocktesting.NewFakeClock(time.Unix(0, 0))
		g := tasks.New(c)
		test(g, c)
		g.End()
	})
}

func TestEndWaitsForTasks(t *testing.T) {
	inBubble(t, func(g *tasks.Group, _ *clocktesting.FakeClock) {
		ended := false
		if !g.Run(func(ctx context.Context) { <-ctx.Done(); ended = true }) {
			t.Error("before the end: found the task refused")
		}
		g.End()
		if !ended {
			t.Error("End returned before the task")
		}
		if g.Run(func(context.Context) { t.Error("a task ran after the end") }) {
			t.Error("after the end: found a task accepted")
		}
		g.Every(time.Second, func(context.Context) { t.Error("a loop ran after the end") })
		ctx, cancel := g.Within(context.Background(), time.Hour)
		defer cancel()
		if ctx.Err() == nil {
			t.Error("after the end: found a context that nobody ends")
		}
	})
}

func TestEvery(t *testing.T) {
	inBubble(t, func(g *tasks.Group, c *clocktesting.FakeClock) {
		turns := 0
		g.Every(time.Minute, func(context.Context) { turns++ })
		for range 4 {
			c.Step(30 * time.Second)
			synctest.Wait()
		}
		if turns != 2 {
			t.Errorf("found %d turns in two minutes, want 2", turns)
		}
		g.End()
		c.Step(time.Hour)
		synctest.Wait()
		if turns != 2 {
			t.Errorf("found %d turns, want none after the end", turns)
		}
	})
}

func TestWithin(t *testing.T) {
	inBubble(t, func(g *tasks.Group, c *clocktesting.FakeClock) {
		late, cancelLate := g.Within(context.Background(), time.Minute)
		defer cancelLate()
		done, cancelDone := g.Within(context.Background(), time.Hour)
		parent, cancelParent := context.WithCancel(context.Background())
		child, cancelChild := g.Within(parent, time.Hour)
		defer cancelChild()
		synctest.Wait()
		c.Step(time.Minute - 1)
		synctest.Wait()
		if late.Err() != nil || done.Err() != nil || child.Err() != nil {
			t.Error("before its time: found a context ended")
		}
		c.Step(1)
		cancelDone()
		cancelParent()
		synctest.Wait()
		if late.Err() == nil || done.Err() == nil || child.Err() == nil {
			t.Error("after its time, its function and its parent: found a context that goes on")
		}
	})
}

func TestPause(t *testing.T) {
	inBubble(t, func(g *tasks.Group, c *clocktesting.FakeClock) {
		answers := make(chan bool, 2)
		ctx, cancel := context.WithCancel(context.Background())
		g.Run(func(context.Context) { answers <- g.Pause(context.Background(), time.Minute) })
		synctest.Wait()
		c.Step(time.Minute)
		if !<-answers {
			t.Error("after a minute: found false, want true")
		}
		g.Run(func(context.Context) { answers <- g.Pause(ctx, time.Minute) })
		synctest.Wait()
		cancel()
		if <-answers {
			t.Error("after a cancel: found true, want false")
		}
	})
}

func TestEndWith(t *testing.T) {
	for _, by := range []string{"quit", "end"} {
		inBubble(t, func(g *tasks.Group, _ *clocktesting.FakeClock) {
			quit := make(chan struct{})
			var wg sync.WaitGroup
			called := false
			g.EndWith(quit, &wg, func() { g.End(); called = true })
			if by == "quit" {
				close(quit)
			} else {
				g.End()
			}
			wg.Wait()
			if !called {
				t.Errorf("by %s: end wasn't called", by)
			}
		})
	}
}
