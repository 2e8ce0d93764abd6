package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/timeline"
)

// crowd plays a tape before a first reader and others that come, go and read
// when they like. It returns what the first was told, and what has fired.
func crowd(t *testing.T, r *rand.Rand, others int, lazy bool, events []timeline.Event, specs []string) (told, fired []string, first *reader) {
	t.Helper()
	p, err := replay.NewPlayer(replay.Events(header(), events), fault.InjectAndLog(func(f fault.Fired) { fired = append(fired, f.String()) }, specs...))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	first = &reader{cluster: p.Cluster(), gvr: nodeGVR}
	first.list()
	var rest []*reader
	for {
		err := p.Step()
		if !lazy || err != nil {
			told = append(told, first.read()...)
		}
		for _, o := range rest {
			if r.IntN(3) == 0 {
				o.read()
			}
		}
		if len(rest) < others && r.IntN(3) == 0 {
			o := &reader{cluster: p.Cluster(), gvr: []schema.GroupVersionResource{nodeGVR, podGVR}[r.IntN(2)]}
			o.list()
			rest = append(rest, o)
		}
		if errors.Is(err, io.EOF) {
			return told, fired, first
		}
		if err != nil {
			t.Fatal(specs, err)
		}
	}
}

// What fires, and what a client is told, is the tape's and the faults': it
// doesn't depend on who else watches, or when they read.
func TestFaultsAreDeterministic(t *testing.T) {
	for seed := range tapes(300) {
		c := chance{rand.New(rand.NewPCG(seed, 1))}
		events, specs := c.tape(), c.faults(wild...)
		told, fired, _ := crowd(t, c.Rand, 0, false, events, specs)
		for range 2 {
			again, refired, _ := crowd(t, c.Rand, 5, false, events, specs)
			if d := cmp.Diff(fired, refired); d != "" {
				t.Fatalf("seed %d, %q fired (-alone +among others):\n%s", seed, specs, d)
			}
			if d := cmp.Diff(told, again); d != "" {
				t.Fatalf("seed %d, %q told (-alone +among others):\n%s", seed, specs, d)
			}
		}
	}
}

// A late reader is told the same, where nothing ends or silences streams.
func TestLateReadersAreToldTheSame(t *testing.T) {
	for seed := range tapes(200) {
		c := chance{rand.New(rand.NewPCG(seed, 2))}
		events, specs := c.tape(), c.faults("drop", "delay", "duplicate", "coalesce", "reorder", "slow", "bookmarks", "recreate")
		told, _, _ := crowd(t, c.Rand, 0, false, events, specs)
		late, _, _ := crowd(t, c.Rand, 0, true, events, specs)
		if d := cmp.Diff(told, late); d != "" {
			t.Fatalf("seed %d, %q (-at once +late):\n%s", seed, specs, d)
		}
	}
}

// atTheEnd returns what a tape ends with, without faults.
func atTheEnd(t *testing.T, events []timeline.Event) map[string]string {
	t.Helper()
	p, err := replay.NewPlayer(replay.Events(header(), events))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Seek(t.Context(), replay.End); err != nil {
		t.Fatal(err)
	}
	l, err := p.Cluster().List(nodeGVR, "", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	end := map[string]string{}
	for _, o := range l.Items {
		end[o.Name()] = o.ResourceVersion()
	}
	return end
}

// A client that lists when it is told to ends where the tape does.
func TestTameFaultsKeepTheEnd(t *testing.T) {
	for seed := range tapes(400) {
		c := chance{rand.New(rand.NewPCG(seed, 3))}
		events, specs := c.tape(), c.faults(tame...)
		told, fired, first := crowd(t, c.Rand, 3, seed%4 == 0, events, specs)
		if d := cmp.Diff(atTheEnd(t, events), first.state); d != "" {
			t.Fatalf("seed %d, %q ends (-tape +client):\n%s\n%q\n%q", seed, specs, d, fired, told)
		}
	}
}

// An informer ends where the tape does, under everything that may go wrong with
// streams and requests, and always in the same way.
func TestInformersEndWhereTheTapeDoes(t *testing.T) {
	for seed := range tapes(30) {
		c := chance{rand.New(rand.NewPCG(seed, 4))}
		events := c.tape()
		specs := append(c.faults(tame...), c.of("429", "500", "timeout", "stale-list")+c.of("", ":nodes")+fmt.Sprintf(",verb=read,p=%.2f,seed=%d,count=%d", 0.1+0.9*c.Float64(), seed, 1+c.IntN(4)))
		var first []string
		for range 2 {
			store, want, heard := informed(t, events, specs, seed%2 == 0)
			if d := cmp.Diff(want, store); d != "" {
				t.Fatalf("seed %d, %q ends (-tape +informer):\n%s\n%q", seed, specs, d, heard)
			}
			if first == nil {
				first = heard
			} else if d := cmp.Diff(first, heard); d != "" {
				t.Fatalf("seed %d, %q (-first +second time):\n%s", seed, specs, d)
			}
		}
	}
}

// informed steps an informer through a tape, and returns what its store holds,
// what the tape ends with, and what the informer has told its handler. It lists
// and watches, or lets the watch tell what there is.
func informed(t *testing.T, events []timeline.Event, specs []string, lists bool) (store, want map[string]string, heard []string) {
	store = map[string]string{}
	synctest.Test(t, func(t *testing.T) {
		opts := []fakeclient.Option{fault.Inject(specs...)}
		if !lists {
			opts = append(opts, fakeclient.WithWatchList())
		}
		c, err := fakeclient.New(replay.Events(header(), events), opts...)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // of the bubble's time: back-offs
		f := informers.NewSharedInformerFactory(c, 0)
		nodes := f.Core().V1().Nodes().Informer()
		say := func(verb string, o any) {
			if d, ok := o.(cache.DeletedFinalStateUnknown); ok {
				verb, o = verb+" unseen", d.Obj
			}
			m, err := meta.Accessor(o)
			if err != nil {
				t.Error(err)
				return
			}
			heard = append(heard, verb+" "+m.GetName()+"@"+m.GetResourceVersion())
		}
		if _, err := c.Handle(nodes, cache.ResourceEventHandlerFuncs{
			AddFunc: func(o any) { say("add", o) }, UpdateFunc: func(_, o any) { say("update", o) }, DeleteFunc: func(o any) { say("delete", o) },
		}); err != nil {
			t.Fatal(err)
		}
		f.Start(ctx.Done())
		if !cache.WaitForCacheSync(ctx.Done(), nodes.HasSynced) {
			t.Fatal(specs, "never synced")
		}
		for done := 0; ; done = len(heard) {
			err := c.Step(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(specs, err, heard, c.Player().Cluster().Watches(), nodes.LastSyncResourceVersion())
			}
			synctest.Wait()
			slices.Sort(heard[done:]) // an informer that lists again tells of objects in no order
		}
		for _, o := range nodes.GetStore().List() {
			store[o.(*corev1.Node).Name] = o.(*corev1.Node).ResourceVersion
		}
		want = atTheEnd(t, events)
		cancel()
		f.Shutdown()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return store, want, heard
}
