package control_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/timeline"
)

// onceOnly is a Source that can't be opened again.
type onceOnly struct {
	src    timeline.Source
	opened bool
}

func (o *onceOnly) Open() (timeline.Stream, error) {
	if o.opened {
		return nil, errors.New("it can be read once only")
	}
	o.opened = true
	return o.src.Open()
}

func TestStepSaysWhatItApplied(t *testing.T) {
	c, _ := still(t, control.Sources{})
	s, err := c.Step(t.Context(), control.Steps{})
	if err != nil || s.Events != 1 || len(s.Applied) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	want := control.Applied{At: 2e9, Type: "ADDED", Resource: "nodes", Name: "ip-10-0-1-44", Version: s.Applied[0].Version}
	if s.Applied[0] != want || want.Version == "" || s.Status.Position != 2e9 || !s.Status.Paused {
		t.Errorf("%+v", s)
	}
	s, err = c.Step(t.Context(), control.Steps{Count: 1000})
	if err != nil || !s.Status.Ended || s.Events < 10 {
		t.Errorf("to the end: %+v, %v", s, err)
	}
	s, err = c.Step(t.Context(), control.Steps{})
	if err != nil || !s.Status.Ended || s.Events != 0 {
		t.Errorf("after the end: %+v, %v", s, err)
	}
}

// What isn't an event is counted by the function that Sources has for it.
func TestStepUntil(t *testing.T) {
	transitions := 0
	c, p := still(t, control.Sources{Transitions: func() int { return transitions }})
	events := 0
	cancel := p.Subscribe(func(n replay.Note) {
		if n.Kind == replay.Applied {
			if events++; events%3 == 0 {
				transitions++
			}
		}
	})
	defer cancel()
	s, err := c.Step(t.Context(), control.Steps{Until: control.UntilTransition, Count: 2})
	if err != nil || s.Events != 6 {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = c.Step(t.Context(), control.Steps{Until: control.UntilMarker})
	if err != nil || !s.Status.Ended {
		t.Errorf("the demo has no marker: %+v, %v", s, err)
	}
}

// A cluster that acts has always more to do: a search in it ends after a day of its time.
func TestASearchInAClusterThatActs(t *testing.T) {
	e, err := simcluster.AtRest(simcluster.Scenario("empty")).Engine()
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewEnginePlayer(e, replay.StartPaused())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	c := control.New(p, control.Sources{Transitions: func() int { return 0 }})
	for _, until := range []control.Until{control.UntilMarker, control.UntilTransition} {
		from := p.Position()
		_, err := c.Step(t.Context(), control.Steps{Until: until})
		if err == nil || !strings.Contains(err.Error(), "found none in 24h0m0s of the cluster's time") {
			t.Errorf("until %s: %v", until, err)
		}
		if took := p.Position() - from; took < 24*time.Hour || took > 25*time.Hour {
			t.Errorf("until %s: it took %s of the cluster's time", until, took)
		}
	}
}

// In lock-step every watcher has been handed the event when a step
// returns.
func TestStepWaitsForWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := still(t, control.Sources{})
		w, err := p.Cluster().Watch(gvr(p.Header().Resources[0]), "", metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		got := 0
		var reading sync.WaitGroup
		reading.Go(func() {
			for {
				if _, err := w.Next(t.Context()); err != nil {
					return
				}
				mu.Lock()
				got++
				mu.Unlock()
			}
		})
		seen := func() int {
			mu.Lock()
			defer mu.Unlock()
			return got
		}
		before := seen()
		for range 5 {
			s, err := c.Step(t.Context(), control.Steps{Wait: true})
			if err != nil {
				t.Fatal(err)
			}
			if s.Applied[0].Resource != "nodes" {
				continue
			}
			if before++; seen() < before {
				t.Errorf("a step returned before its event was delivered: %d of %d", seen(), before)
			}
		}
		w.Stop()
		reading.Wait()
	})
}

// A client that doesn't read holds up one that waits, for as long as that one likes, and no one
// else but those who want to move the tape as well.
func TestOneMovesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := still(t, control.Sources{})
		w, err := p.Cluster().Watch(gvr(p.Header().Resources[0]), "", metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		first, giveUp := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := c.Step(first, control.Steps{Wait: true})
			done <- err
		}()
		synctest.Wait()
		if s := c.Status(); s.Position != 2e9 || len(s.Watches) != 1 || s.Watches[0].Lag != 1 {
			t.Errorf("%+v", s)
		}
		c.SetSpeed(7)
		second, tired := context.WithCancel(t.Context())
		tired()
		if err := c.Seek(second, 9e9); !errors.Is(err, context.Canceled) {
			t.Errorf("a second one: %v, want that it waits until it is tired", err)
		}
		giveUp()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the first one: %v", err)
		}
		if err := c.Seek(t.Context(), 9e9); err != nil {
			t.Error(err)
		}
	})
}
