package tasks_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/nodemanager/tasks"
)

// Tasks that take turns wait in the loop's time, and those of one moment go on in the order in which they were started;
// none is a goroutine, and none is left after the end.
func TestTurns(t *testing.T) {
	l := &loop.Loop{}
	turns := tasks.NewTurns(l.After)
	g := tasks.InTurns(turns)
	var told []string
	tell := func(what string) { told = append(told, fmt.Sprint(l.Now(), " ", what)) }
	opened := make(chan struct{})
	g.Every(2*time.Second, func(context.Context) { tell("every") })
	for _, name := range []string{"a", "b"} {
		g.Run(func(ctx context.Context) {
			tell(name)
			if !g.Pause(ctx, time.Second) {
				t.Error("the pause was cut short")
			}
			tell(name + " after a pause")
			g.Await(opened)
			tell(name + " after the other")
		})
	}
	g.Run(func(ctx context.Context) {
		within, cancel := g.Within(ctx, 3*time.Second)
		defer cancel()
		turns.Wait(func() bool { return within.Err() != nil })
		close(opened)
		tell("opens")
		g.Run(func(context.Context) { tell("a task of a task") })
		if g.Pause(ctx, time.Hour) {
			t.Error("the pause outlived the end")
		}
		tell("ends")
	})
	if err := l.Run(4 * time.Second); err != nil {
		t.Fatal(err)
	}
	g.End()
	if g.Run(func(context.Context) { t.Error("a task ran after the end") }) {
		t.Error("after the end: found a task accepted")
	}
	if err := l.Run(2 * time.Hour); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0s a", "0s b", "1s a after a pause", "1s b after a pause", "2s every", "3s opens", "3s a task of a task",
		"3s a after the other", "3s b after the other", "4s every", "4s ends",
	}
	if !slices.Equal(told, want) {
		t.Errorf("found %q, want %q", told, want)
	}
}
