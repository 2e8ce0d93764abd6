package noderoll_test

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/noderoll"
)

const (
	ready    = noderoll.PhaseReady
	joining  = noderoll.PhaseJoining
	draining = noderoll.PhaseDraining
	notReady = noderoll.PhaseNotReady
)

func TestTrackerTellsARoll(t *testing.T) {
	tr := noderoll.NewTracker()
	tr.Observe(snap(view("a", ready), view("b", ready), view("c", ready)))
	if len(tr.Events) != 0 {
		t.Fatalf("the first look gave %v, want nothing", tr.Events)
	}
	tr.Observe(snap(view("a", draining), view("b", ready), view("c", ready), view("d", joining)))
	tr.Observe(snap(view("b", ready), view("c", ready), view("d", ready)))
	if got, want := events(tr.Events), "draining a, joining d, online d, terminated a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTrackerSortsByName(t *testing.T) {
	// Frames need not be sorted, and what vanishes together is told in order.
	var all []noderoll.NodeView
	for _, i := range rand.New(rand.NewPCG(1, 0)).Perm(20) {
		all = append(all, view(fmt.Sprintf("node-%02d", i), ready))
	}
	tr := noderoll.NewTracker()
	tr.Observe(snap())
	tr.Observe(snap(all...))
	tr.Observe(snap())
	var names []string
	for _, e := range tr.Events {
		names = append(names, e.Node)
	}
	if len(names) != 40 || !sort.StringsAreSorted(names[:20]) || !sort.StringsAreSorted(names[20:]) {
		t.Errorf("want 20 online and 20 terminated, each sorted by name, got %v", tr.Events)
	}
}

func TestTrackerKinds(t *testing.T) {
	for _, tc := range []struct {
		name          string
		before, after noderoll.Snapshot
		want          string
	}{
		{"first seen ready", snap(), snap(view("a", ready)), "online a"},
		{"uncordon", snap(view("a", draining)), snap(view("a", ready)), "online a"},
		{"falls silent", snap(view("a", ready)), snap(view("a", notReady)), "notready a"},
		{"unknown phase", snap(view("a", ready)), snap(view("a", "Odd")), ""},
		{"no change", snap(view("a", draining)), snap(view("a", draining)), ""},
		{"reimaged under the same name",
			snap(noderoll.NodeView{Name: "a", UID: "1", Phase: draining}),
			snap(noderoll.NodeView{Name: "a", UID: "2", Phase: joining}), "terminated a, joining a"},
		{"source without UIDs",
			snap(noderoll.NodeView{Name: "a", UID: "1", Phase: ready}),
			snap(noderoll.NodeView{Name: "a", Phase: ready}), ""},
		{"twice in one frame: the last counts", snap(view("a", ready)), snap(view("a", joining), view("a", draining)), "draining a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := noderoll.NewTracker()
			tr.Observe(tc.before)
			tr.Observe(tc.after)
			if got := events(tr.Events); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRecent(t *testing.T) {
	tr := noderoll.Tracker{Events: []noderoll.Event{{Node: "a", Kind: noderoll.EvtJoining}, {Node: "b", Kind: noderoll.EvtOnline}, {Node: "c", Kind: noderoll.EvtDraining}}}
	if got := tr.Recent(2); len(got) != 2 || got[0].Node != "b" {
		t.Errorf("Recent(2) = %v, want the last two", got)
	}
	for _, n := range []int{10, 3, 0, -1} {
		if got := tr.Recent(n); len(got) != 3 {
			t.Errorf("Recent(%d) = %v, want all three", n, got)
		}
	}
}

func TestTrackerIsBoundedAndStamps(t *testing.T) {
	now := epoch
	tr := noderoll.NewTrackerWithOptions(noderoll.TrackerOptions{Limit: 10, Now: func() time.Time { return now }})
	tr.Observe(snap(view("a", ready)))
	var early []noderoll.Event
	for i := range 1000 {
		now = now.Add(time.Second)
		tr.Observe(snap(view("a", []noderoll.Phase{draining, ready}[i%2])))
		if i == 5 {
			early = tr.Recent(3)
		}
		if len(tr.Events) > 20 {
			t.Fatalf("%d events are kept, want at most 20", len(tr.Events))
		}
	}
	if got := events(early); got != "online a, draining a, online a" {
		t.Errorf("what Recent gave out changed to %q", got)
	}
	log := tr.Entries()
	last := log[len(log)-1]
	if last.Seq != 1000 || !last.Time.Equal(epoch.Add(1000*time.Second)) || last.Kind != noderoll.EvtOnline {
		t.Errorf("last entry %+v, want number 1000 at second 1000", last)
	}
	for i := range log[1:] {
		if log[i+1].Seq != log[i].Seq+1 {
			t.Fatalf("numbers %d, %d: want no gap", log[i].Seq, log[i+1].Seq)
		}
	}
}

func TestTrackerObserveAt(t *testing.T) {
	tr := noderoll.NewTracker()
	tr.ObserveAt(epoch, snap())
	tr.ObserveAt(epoch.Add(time.Minute), snap(noderoll.NodeView{Name: "a", UID: "1", Phase: ready}))
	want := []noderoll.TrackedEvent{{Event: noderoll.Event{Node: "a", Kind: noderoll.EvtOnline}, Seq: 1, Time: epoch.Add(time.Minute), UID: "1"}}
	if diff := cmp.Diff(want, tr.Entries()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTrackerFromSeveralGoroutines(t *testing.T) {
	tr := noderoll.NewTracker()
	tr.Observe(snap())
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 100 {
				name := fmt.Sprintf("node-%d-%d", g, i)
				tr.ObserveNode(epoch, view(name, ready))
				tr.Recent(3)
				tr.ObserveGone(epoch, name)
			}
		})
	}
	wg.Wait()
	if got := len(tr.Entries()); got != 800 {
		t.Errorf("%d events, want 800", got)
	}
}

// naiveTracker is the tracker as one would write it without a thought for cost: maps,
// rebuilt each time.
type naiveTracker struct {
	seeded bool
	prev   map[string]noderoll.NodeView
	events []noderoll.Event
}

func (w *naiveTracker) observe(nodes map[string]noderoll.NodeView) {
	kind := map[noderoll.Phase]noderoll.EventKind{
		joining: noderoll.EvtJoining, ready: noderoll.EvtOnline, draining: noderoll.EvtDraining, notReady: noderoll.EvtNotReady,
	}
	if w.seeded {
		for _, name := range names(nodes) {
			v := nodes[name]
			old, known := w.prev[name]
			replaced := known && old.UID != v.UID
			if replaced {
				w.events = append(w.events, noderoll.Event{Node: name, Kind: noderoll.EvtTerminated})
			}
			if !known || replaced || old.Phase != v.Phase {
				w.events = append(w.events, noderoll.Event{Node: name, Kind: kind[v.Phase]})
			}
		}
		for _, name := range names(w.prev) {
			if _, there := nodes[name]; !there {
				w.events = append(w.events, noderoll.Event{Node: name, Kind: noderoll.EvtTerminated})
			}
		}
	}
	w.seeded, w.prev = true, nodes
}

func names(m map[string]noderoll.NodeView) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// Whole snapshots and single nodes give what the twin gives.
func TestTrackerEqualsNaiveTracker(t *testing.T) {
	phases := []noderoll.Phase{ready, joining, draining, notReady}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		whole, single := noderoll.NewTracker(), noderoll.NewTracker()
		var w naiveTracker
		nodes := map[string]noderoll.NodeView{}
		for step := range 60 {
			next := map[string]noderoll.NodeView{}
			for k, v := range nodes {
				next[k] = v
			}
			changes := 1
			if step == 0 {
				changes = 8
			}
			for range changes {
				name := fmt.Sprintf("n%d", rnd.IntN(12))
				if rnd.IntN(4) == 0 {
					delete(next, name)
					if step > 0 {
						single.ObserveGone(epoch, name)
					}
					continue
				}
				v := noderoll.NodeView{Name: name, UID: fmt.Sprint(rnd.IntN(2)), Phase: phases[rnd.IntN(len(phases))]}
				next[name] = v
				if step > 0 {
					single.ObserveNode(epoch, v)
				}
			}
			nodes = next
			var frame []noderoll.NodeView
			for _, v := range nodes { // in the order of a map: none
				frame = append(frame, v)
			}
			w.observe(nodes)
			whole.Observe(snap(frame...))
			if step == 0 {
				single.Observe(snap(frame...))
			}
		}
		if diff := cmp.Diff(w.events, whole.Events); diff != "" {
			t.Fatalf("seed %d: Observe (-twin +got):\n%s", seed, diff)
		}
		if diff := cmp.Diff(w.events, single.Events); diff != "" {
			t.Fatalf("seed %d: ObserveNode (-twin +got):\n%s", seed, diff)
		}
	}
}

// Several changes at once, whole snapshots only.
func TestTrackerEqualsNaiveTrackerOnLeaps(t *testing.T) {
	phases := []noderoll.Phase{ready, joining, draining, notReady}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		tr := noderoll.NewTracker()
		var w naiveTracker
		for range 20 {
			nodes := map[string]noderoll.NodeView{}
			var frame []noderoll.NodeView
			for i := range 10 {
				if rnd.IntN(3) > 0 {
					name := fmt.Sprintf("n%d", i)
					nodes[name] = noderoll.NodeView{Name: name, UID: fmt.Sprint(rnd.IntN(2)), Phase: phases[rnd.IntN(len(phases))]}
					frame = append(frame, nodes[name])
				}
			}
			w.observe(nodes)
			tr.Observe(snap(frame...))
		}
		if diff := cmp.Diff(w.events, tr.Events); diff != "" {
			t.Fatalf("seed %d (-twin +got):\n%s", seed, diff)
		}
	}
}
