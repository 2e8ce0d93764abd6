// Package examples_test checks the committed tapes against what is promised of
// every tape: its feed is the same at any speed, and on whatever way it is
// computed.
package examples_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

func tapes(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no tapes here: %v", err)
	}
	return names
}

// followed are the tapes whose feed is looked at: the recorded ones, and those of
// rolls of pods, which are written by hand.
func followed(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no tapes in testdata: %v", err)
	}
	return append(tapes(t), names...)
}

func open(t *testing.T, name string) *timeline.Reader {
	t.Helper()
	r, err := timeline.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() }) // it was only read
	return r
}

func options(t *testing.T, h *timeline.Header) observe.Options {
	t.Helper()
	o, err := observe.OptionsFor(h, "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// feed collects entries as text.
type feed struct{ strings.Builder }

func (f *feed) add(entries ...noderoll.Entry) {
	for _, e := range entries {
		f.WriteString(e.String())
		f.WriteByte('\n')
	}
}

// ofTape is the feed by the shortest way, which the others are checked against.
func ofTape(t *testing.T, name string) string {
	t.Helper()
	r, f := open(t, name), new(feed)
	if err := observe.Feed(r, options(t, r.Header()), func(e noderoll.Entry) error {
		f.add(e)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if f.Len() == 0 || !r.Complete() {
		t.Fatalf("%s says nothing, or isn't whole: %s", name, r.Torn())
	}
	return f.String()
}

// The golden files are those of the command line: what is accepted there holds
// here.
func TestFeedOfTape(t *testing.T) {
	for _, name := range followed(t) {
		want, err := os.ReadFile(strings.TrimSuffix(name, ".yaml") + ".feed.golden")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), ofTape(t, name)); d != "" {
			t.Errorf("%s (-golden +tape), accept it with: nodesim test --update examples\n%s", name, d)
		}
	}
}

// At any pace: the clock of the bubble runs as fast as nothing happens.
func TestFeedAtAnySpeed(t *testing.T) {
	for _, name := range followed(t) {
		want := ofTape(t, name)
		for _, speed := range []string{"1x", "100x", "max"} {
			synctest.Test(t, func(t *testing.T) {
				s, err := replay.ParseSpeed(speed)
				if err != nil {
					t.Fatal(err)
				}
				p, err := replay.NewPlayer(replay.File(name), replay.WithSpeed(s))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = p.Close() }()
				follower, f := observe.New(p.Header(), options(t, p.Header())), new(feed)
				var failed error
				defer p.Subscribe(func(n replay.Note) {
					if n.Kind == replay.Applied && failed == nil {
						var entries []noderoll.Entry
						entries, failed = follower.Apply(n.Event)
						f.add(entries...)
					}
				})()
				start := time.Now()
				if err := errors.Join(p.Run(t.Context()), failed); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, f.String()); d != "" {
					t.Errorf("%s at %s (-tape +player):\n%s", name, speed, d)
				}
				if speed == "1x" && time.Since(start) < follower.At() {
					t.Errorf("%s at 1x took %s for %s of tape", name, time.Since(start), follower.At())
				}
			})
		}
	}
}

// Through a ScriptedObserver and a Tracker: the transitions.
func TestFeedThroughScript(t *testing.T) {
	for _, name := range followed(t) {
		var want []noderoll.Event
		cordoned := map[string]bool{}
		r := open(t, name)
		if err := observe.Feed(r, options(t, r.Header()), func(e noderoll.Entry) error {
			// Only a Feed knows blocked, and pods, and a cordon from a drain.
			switch {
			case e.Node == "" || e.Object != "" || e.Kind == noderoll.EvtUnblocked:
				return nil
			case e.Kind == noderoll.EvtDraining && cordoned[e.Node]:
				return nil
			}
			if cordoned[e.Node] = e.Kind == noderoll.EvtCordoned; cordoned[e.Node] {
				e.Kind = noderoll.EvtDraining
			}
			want = append(want, noderoll.Event{Node: e.Node, Kind: e.Kind})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		observer, err := observe.Script(timeline.File(name))
		if err != nil {
			t.Fatal(err)
		}
		tracker := noderoll.NewTracker()
		for !observer.AtEnd() {
			s, err := observer.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tracker.Observe(s)
		}
		if d := cmp.Diff(want, tracker.Events); d != "" {
			t.Errorf("%s (-tape +script):\n%s", name, d)
		}
	}
}

// Through the fake clientset in lock-step: informers see the tape, decode it
// into the API's own types, and drive the same Feed.
func TestFeedThroughFakeClient(t *testing.T) {
	for _, name := range followed(t) {
		if d := cmp.Diff(ofTape(t, name), ofFakeClient(t, name)); d != "" {
			t.Errorf("%s (-tape +fakeclient):\n%s", name, d)
		}
	}
}

// ofFakeClient is the feed that informers drive.
func ofFakeClient(t *testing.T, name string) string {
	t.Helper()
	client, err := fakeclient.New(replay.File(name))
	if err != nil {
		t.Fatal(err)
	}
	l := &live{feed: noderoll.NewFeed(options(t, client.Player().Header()).FeedOptions)}
	factory := informers.NewSharedInformerFactory(client, 0)
	for _, i := range []cache.SharedIndexInformer{
		factory.Core().V1().Nodes().Informer(), factory.Core().V1().Pods().Informer(),
		factory.Core().V1().Events().Informer(), factory.Policy().V1().PodDisruptionBudgets().Informer(),
	} {
		if _, err := client.Handle(i, l); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := client.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	for _, r := range []string{noderoll.Nodes, noderoll.Pods, noderoll.Events, noderoll.Budgets} {
		l.add(l.feed.Synced(0, r))
	}
	for {
		at, more, err := client.Player().Upcoming()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		l.moment(at)
		if err := client.Step(ctx); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	factory.Shutdown()
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	return l.out.String()
}

// live drives a Feed from informers, as a live tool would.
type live struct {
	mu   sync.Mutex
	at   time.Duration
	feed *noderoll.Feed
	out  feed
}

func (l *live) add(entries []noderoll.Entry) { l.out.add(entries...) }

// moment moves to the position of the event that comes next.
func (l *live) moment(at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = at
	l.add(l.feed.Advance(at))
}

func (l *live) set(o any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch o := o.(type) {
	case *corev1.Node:
		l.add(l.feed.SetNode(l.at, noderoll.NodeFrom(o)))
	case *corev1.Pod:
		l.add(l.feed.SetInstance(l.at, noderoll.InstanceFrom(o)))
	case *policyv1.PodDisruptionBudget:
		l.add(l.feed.SetBudget(l.at, noderoll.BudgetFrom(o)))
	case *corev1.Event:
		l.add(l.feed.SetEvent(l.at, noderoll.EventRecordFrom(o)))
	}
}

func (l *live) OnAdd(o any, _ bool) { l.set(o) }
func (l *live) OnUpdate(_, o any)   { l.set(o) }
func (l *live) OnDelete(deleted any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch o := deleted.(type) {
	case *corev1.Node:
		l.add(l.feed.DeleteNode(l.at, o.Name, string(o.UID)))
	case *corev1.Pod:
		l.add(l.feed.DeletePod(l.at, o.Namespace, o.Name, string(o.UID)))
	case *policyv1.PodDisruptionBudget:
		l.add(l.feed.DeleteBudget(l.at, o.Namespace, o.Name))
	case *corev1.Event:
		l.add(l.feed.DeleteEvent(l.at, o.Namespace, o.Name))
	}
}
