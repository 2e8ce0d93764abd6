package invariant_test

import (
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// odd are values that no member of an object should have.
var odd = []any{nil, true, -1, 1e300, "", "\u0000", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "-9223372036854775808", []any{}, []any{nil, 7}, object{}, object{"type": 3}}

// spoil replaces, drops or repeats members of an object, at any depth.
func spoil(r *rand.Rand, at any, depth int) any {
	if r.IntN(12) == 0 || depth > 20 {
		return odd[r.IntN(len(odd))]
	}
	switch at := at.(type) {
	case object:
		keys := make([]string, 0, len(at))
		for k := range at {
			keys = append(keys, k)
		}
		for _, k := range keys {
			if r.IntN(3) == 0 {
				at[k] = spoil(r, at[k], depth+1)
			}
		}
	case []any:
		for i := range at {
			at[i] = spoil(r, at[i], depth+1)
		}
		if len(at) > 0 && r.IntN(4) == 0 {
			return append(at, at[r.IntN(len(at))])
		}
	}
	return at
}

// FuzzChecker spoils objects, times, types and order of a real tape: nothing
// panics, and every violation fits on a line.
func FuzzChecker(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, simulated bool) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := open(t, []string{"surge", "vanish"}[r.IntN(2)])
		if simulated {
			p.opts = invariant.CheckSimulated(p.opts.Start)
		}
		p.opts.Roll = &invariant.RollLimits{InFlight: 1, Draining: 1, OneTarget: true}
		for i := range p.events {
			ev := &p.events[i]
			if r.IntN(4) != 0 {
				continue
			}
			switch r.IntN(8) {
			case 0:
				ev.At += time.Duration(r.Int64N(int64(time.Minute)))
			case 1:
				ev.Type = []timeline.Type{timeline.Added, timeline.Modified, timeline.Deleted, timeline.Gap, timeline.Sync, "ODD"}[r.IntN(6)]
			case 2:
				ev.RV, ev.UID = "", "uid-"+strconv.Itoa(r.IntN(3))
			case 3:
				ev.At = []time.Duration{-1, 1<<63 - 1}[r.IntN(2)]
			default:
				var o any
				if json.Unmarshal(ev.Object, &o) == nil {
					ev.Object, _ = json.Marshal(spoil(r, o, 0))
				}
			}
		}
		for _, v := range p.check() {
			if text := v.String(); noderoll.OneLine(text) != text {
				t.Errorf("not fit to print: %q", text)
			}
		}
	})
}

func TestNothingToLookAt(t *testing.T) {
	c := invariant.NewChecker(invariant.CheckOptions{Skew: -1})
	var none *corev1.Node
	for _, o := range []metav1.Object{nil, none, &corev1.Node{}, &corev1.Pod{}, &metav1.PartialObjectMetadata{}} {
		for _, typ := range []invariant.ChangeType{invariant.ChangeAdded, invariant.ChangeModified, invariant.ChangeDeleted, "", "ODD"} {
			if found := c.Observe(invariant.Change{Type: typ, Object: o}); len(found) > 0 {
				t.Errorf("%s %T: found %v in the first list: want nothing", typ, o, found)
			}
		}
	}
	if found := c.End(); found != nil {
		t.Errorf("found %v, want nothing", found)
	}
}

// Memory goes with what is alive: a day of pods that come and go leaves none.
func TestCheckerForgetsTheDead(t *testing.T) {
	start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	c := invariant.NewChecker(invariant.CheckSimulated(start))
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	c.Observe(invariant.Change{Type: invariant.ChangeSync, Resource: pods})
	c.Observe(invariant.Change{Type: invariant.ChangeSync, Resource: nodes})
	turn := func(i int) {
		at := time.Duration(i) * time.Second
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + strconv.Itoa(i), UID: types.UID("n" + strconv.Itoa(i)), CreationTimestamp: metav1.NewTime(start.Add(at))}}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod-" + strconv.Itoa(i), Namespace: "shop", UID: types.UID("p" + strconv.Itoa(i)), CreationTimestamp: metav1.NewTime(start.Add(at))}}
		pod.Spec.NodeName = node.Name
		for _, typ := range []invariant.ChangeType{invariant.ChangeAdded, invariant.ChangeDeleted} {
			for _, v := range c.Observe(invariant.Change{At: at, Type: typ, Resource: nodes, Object: node}) {
				t.Error(v)
			}
			for _, v := range c.Observe(invariant.Change{At: at, Type: typ, Resource: pods, Object: pod}) {
				t.Error(v)
			}
		}
	}
	for i := range 1000 {
		turn(i)
	}
	before := live()
	for i := 1000; i < 20_000; i++ {
		turn(i)
	}
	if after := live(); after > before+200_000 {
		t.Errorf("%d bytes more after 19,000 pods and nodes that are gone: want what the last two minutes need", after-before)
	}
	runtime.KeepAlive(c)
}

// BenchmarkChecker is the cost of an event that has been read: decoding what the
// Checker looks at, and checking it.
func BenchmarkChecker(b *testing.B) {
	header, events, err := recorded["surge"]()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c := inspect.NewChecker(header, inspect.CheckOptions(header))
		for i, ev := range events {
			if found := c.Observe(ev, i); len(found) > 0 {
				b.Fatal(found)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
}
