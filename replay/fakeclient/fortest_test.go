package fakeclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// logHandlers returns what handlers of two resources write into one log: one added in
// each of the ways that an informer has.
func logHandlers(t *testing.T, f *Test) *handlerLog {
	t.Helper()
	d := &handlerLog{}
	nodes, pods := f.Informers.Core().V1().Nodes().Informer(), f.Informers.Core().V1().Pods().Informer()
	_, err := pods.AddEventHandler(d)
	_, err2 := nodes.AddEventHandlerWithOptions(d, cache.HandlerOptions{})
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	return d
}

const wantHandled = "add a@10, add b@11, add p@20, add c@60, update cordoned a@61, delete p@62, add q@63, delete cordoned a@64, update cordoned b@71"

// Handlers that the code under test adds by itself are waited for, and learn of
// everything in one order across resources, the first objects included.
func TestForTestTracksByItself(t *testing.T) {
	for range 20 {
		f := ForTest(t, replay.Events(header(), roll()))
		d := logHandlers(t, f)
		f.Play()
		equal(t, "heard", d.since(0), wantHandled)
		if n, err := f.Informers.Core().V1().Nodes().Lister().Get("b"); err != nil || !n.Spec.Unschedulable {
			t.Errorf("the lister has %v, %v", n, err)
		}
	}
}

// Slow handlers are waited for as well, up to a position.
func TestPlayToWaitsForHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ForTest(t, replay.Events(header(), roll()))
		var mu sync.Mutex
		var out []string
		r, err := f.Informers.Core().V1().Nodes().Informer().AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{
			DeleteFunc: func(any) {
				<-time.After(time.Hour)
				mu.Lock()
				defer mu.Unlock()
				out = append(out, "gone")
			},
		}, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.PlayTo(3 * time.Second)
		equal(t, "at 3 s", strings.Join(out, " "), "")
		f.PlayTo(4 * time.Second)
		equal(t, "at 4 s", strings.Join(out, " "), "gone")
		if err := f.Informers.Core().V1().Nodes().Informer().RemoveEventHandler(r); err != nil {
			t.Fatal(err)
		}
		f.Play()
	})
}

// An informer of the test's own factory may be tracked once more, in whatever way.
func TestTrackedTwice(t *testing.T) {
	f := ForTest(t, replay.Events(header(), roll()))
	i := f.Informers.Core().V1().Nodes().Informer()
	f.Track(i)
	d := &handlerLog{}
	if _, err := f.Handle(i, d); err != nil {
		t.Fatal(err)
	}
	for {
		if err := f.Step(t.Context()); errors.Is(err, io.EOF) { // which starts the informers
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "heard", d.since(0), "add a@10, add b@11, add c@60, update cordoned a@61, delete cordoned a@64, update cordoned b@71")
}

// fatal is a test that notes why it ends.
type fatal struct {
	testing.TB
	why string
}

func (f *fatal) Fatal(args ...any) {
	f.why = fmt.Sprint(args...)
	panic(f)
}

// A resource that isn't on the tape would never be listed: the test fails instead of waiting.
func TestAnInformerOfWhatIsntOnTheTape(t *testing.T) {
	failing := &fatal{TB: t}
	f := ForTest(failing, replay.Events(header(), roll()))
	f.Informers.Apps().V1().Deployments().Informer()
	func() {
		defer func() {
			if r := recover(); r != nil && r != failing {
				panic(r)
			}
		}()
		f.Play()
	}()
	if !strings.Contains(failing.why, "doesn't hold deployments.apps (v1)") || !strings.Contains(failing.why, "replay.Empty") {
		t.Errorf("the test fails with %q, want what the tape lacks and what to do", failing.why)
	}
}

// A scenario is a Source like any other, and so are its settings.
func TestScenariosAreSources(t *testing.T) {
	for nodes, src := range map[int]timeline.Source{
		6: scenarios.Source("surge"),
		9: scenarios.Source("surge", scenarios.Setting{Name: "nodes", Value: "9"}),
	} {
		f := ForTest(t, src)
		store := f.Informers.Core().V1().Nodes().Informer().GetStore()
		f.Start()
		equal(t, "nodes", fmt.Sprint(len(store.ListKeys())), fmt.Sprint(nodes))
	}
	if _, err := New(scenarios.Source("surgee")); err == nil || !strings.Contains(err.Error(), "did you mean surge?") {
		t.Errorf("a misspelt scenario: %v", err)
	}
}

// An option that no adapter takes is an error, never dropped.
func TestOptionsAreRefusedWhereNobodyTakesThem(t *testing.T) {
	_, err := New(replay.Events(header(), roll()), apiserver.ShiftTimes())
	equal(t, "New", fmt.Sprint(err), "replay.NewPlayer: found the option apiserver.ShiftTimes: want those of package replay, and fault.Inject")
	p, err := replay.NewPlayer(replay.Events(header(), roll()), replay.From(3*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	_, err = ForPlayer(p, replay.From(0))
	equal(t, "ForPlayer", fmt.Sprint(err), "fakeclient.ForPlayer: found the option replay.From: want those of the Player where it is made")
	_, err = apiserver.New(p, WithWatchList())
	equal(t, "apiserver.New", fmt.Sprint(err), "apiserver.New: found the option fakeclient.WithWatchList: want those of the Player where it is made")
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// An object that Go's type can't hold fails the test, in the first list and later, instead of keeping it waiting for ever.
func TestObjectsThatCantBeRead(t *testing.T) {
	broken := func(at time.Duration, kind timeline.Type, name string, rv int) timeline.Event {
		return object(at, kind, "nodes", name, rv, `{"unschedulable":"yes"}`)
	}
	for what, events := range map[string][]timeline.Event{
		"in the list":  append([]timeline.Event{broken(0, timeline.Added, "x", 5)}, roll()...),
		"on the watch": append(start(), broken(time.Second, timeline.Modified, "a", 61)),
	} {
		t.Run(what, func(t *testing.T) {
			c := client(t, events)
			i := informersOf(c)["typed"]
			c.Track(i)
			ctx, cancel := context.WithCancel(t.Context())
			var own sync.WaitGroup
			own.Go(func() { i.RunWithContext(ctx) })
			if what == "in the list" {
				<-c.readable.Done()
			} else {
				if err := untilSynced(ctx, i); err != nil {
					t.Error(err)
				}
				err := c.StepTo(ctx, replay.End)
				if err == nil || !strings.Contains(err.Error(), "object /a at version 61") {
					t.Errorf("found the error %v", err)
				}
			}
			if err := c.unreadable(); err == nil || !strings.Contains(err.Error(), `the tape "test" can't be read as Go's types`) {
				t.Errorf("found the error %v", err)
			}
			cancel()
			own.Wait()
		})
	}
}
