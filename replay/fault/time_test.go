package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
)

// watching is a player of the roll at its beginning, and a watch of its nodes.
func watching(t *testing.T, opts ...replay.Option) (*replay.Player, *replay.Watch) {
	t.Helper()
	p, err := replay.NewPlayer(replay.Events(header(), roll()), opts...)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	w, err := p.Cluster().Watch(nodeGVR, "", metav1.ListOptions{ResourceVersion: "20"})
	if err != nil {
		t.Fatal(err)
	}
	return p, w
}

// At a pace, what is held back comes when the tape is there, and between events.
func TestFaultsKeepTheTapesTime(t *testing.T) {
	for spec, want := range map[string]string{
		"delay:nodes,by=1.5s,name=old-a": "5s@30 8s@31 11.5s@32 16.5s@36 20s@41 23s@42 40s@43",
		"slow:nodes,every=7s":            "5s@30 12s@31 19s@32 26s@36 33s@41 40s@42 47s@43",
		"stall:nodes,at=9s,for=30s":      "5s@30 8s@31 39s@32 39s@36 39s@41 39s@42 40s@43",
	} {
		synctest.Test(t, func(t *testing.T) {
			p, w := watching(t, fault.Inject(spec), replay.WithSpeed(2))
			began := time.Now()
			var got []string
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					ev, err := w.Next(ctx)
					if err != nil {
						return
					}
					got = append(got, fmt.Sprintf("%s@%s", 2*time.Since(began).Round(time.Millisecond), ev.Object.ResourceVersion()))
				}
			}()
			if err := p.Run(ctx); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			cancel()
			<-done
			if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
				t.Errorf("%s (-want +got):\n%s", spec, d)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A client that watches again isn't stalled any more.
func TestAStallEndsWithTheStream(t *testing.T) {
	p, _ := playTo(t, 8*time.Second, "stall:nodes,at=9s")
	r := &reader{cluster: p.Cluster(), gvr: nodeGVR}
	r.list()
	if err := p.Seek(t.Context(), 15*time.Second); err != nil {
		t.Fatal(err)
	}
	if got := r.read(); len(got) != 0 {
		t.Errorf("a stalled stream delivers %q", got)
	}
	r.watch.Stop()
	r.again()
	if got, want := strings.Join(r.read(), ", "), "MODIFIED old-a@32, DELETED old-a@36"; got != want {
		t.Errorf("watching anew: %s, want %s", got, want)
	}
}

// Going back is a new beginning: the same faults fire again, in the same places.
func TestRewinding(t *testing.T) {
	p, fired := playTo(t, replay.End, "drop:nodes,p=0.5,seed=1", "unobserved", "close:pods,at=10s", "recreate:pods")
	first := slices.Clone(*fired)
	if len(first) < 4 {
		t.Fatalf("only %q", first)
	}
	r := &reader{cluster: p.Cluster(), gvr: nodeGVR}
	r.list()
	*fired = nil
	if err := p.Seek(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got := r.read(); len(got) < 2 || got[0] != "ERROR 410" {
		t.Errorf("a watch that was open: %q, want ERROR 410 and a list", got)
	}
	if err := p.Seek(t.Context(), replay.End); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if d := cmp.Diff(first, *fired); d != "" {
		t.Errorf("the second time (-first +second):\n%s", d)
	}
	r.read()
	l, err := p.Cluster().List(nodeGVR, "", metav1.ListOptions{})
	if err != nil || l.ResourceVersion == "43" {
		t.Errorf("list after a rewind at %s, %v: want a higher version", l.ResourceVersion, err)
	}
}

// In lock-step a position is reached with what is due up to there, between events and after the last one.
func TestStepToAPositionBetweenEvents(t *testing.T) {
	for _, c := range []struct {
		spec string
		to   time.Duration
		want string
	}{
		{"delay:nodes,by=1.5s,name=old-a", 11 * time.Second, "30 31"},
		{"delay:nodes,by=1.5s,name=old-a", 11500 * time.Millisecond, "30 31 32"},
		{"stall:nodes,at=9s,for=30s", 39 * time.Second, "30 31 32 36 41 42"},
	} {
		p, w := watching(t, fault.Inject(c.spec))
		var err error
		for err == nil {
			err = p.StepTo(c.to)
		}
		if !errors.Is(err, io.EOF) || p.Position() > c.to {
			t.Errorf("%s: found %v at %s", c.spec, err, p.Position())
		}
		var got []string
		for {
			ev, err := w.TryNext()
			if err != nil || ev.Object == nil {
				break
			}
			got = append(got, ev.Object.ResourceVersion())
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s to %s (-want +got):\n%s", c.spec, c.to, d)
		}
		w.Stop()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
