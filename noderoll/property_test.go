package noderoll_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/noderoll"
)

// A change is one random step in a small world: few names, so that they collide.
type change struct {
	at     time.Duration
	node   *noderoll.Node
	pod    *noderoll.Pod
	budget *noderoll.Budget
	event  *noderoll.EventRecord
	// what else is to be deleted: "node a", "pod p1", "budget b1"
	deleted, name string
}

func randomChanges(rnd *rand.Rand, n int) []change {
	var out []change
	var at time.Duration
	for range n {
		at += time.Duration(rnd.IntN(4000)) * time.Millisecond
		c := change{at: at}
		switch rnd.IntN(12) {
		case 0, 1, 2:
			n := feedNode(fmt.Sprint("n", rnd.IntN(5)), []string{oldImage, newImage}[rnd.IntN(2)])
			n.UID = fmt.Sprint(n.Name, "-", rnd.IntN(2))
			n.Ready = []string{"True", "True", "False", "Unknown", ""}[rnd.IntN(5)]
			n.Unschedulable = rnd.IntN(2) == 0
			n.Pressure = noderoll.Pressure(rnd.IntN(3))
			c.node = &n
		case 3:
			c.deleted, c.name = "node", fmt.Sprint("n", rnd.IntN(5))
		case 4, 5, 6, 7:
			name := fmt.Sprint("p", rnd.IntN(8))
			c.pod = &noderoll.Pod{
				Namespace: "shop", Name: name, UID: fmt.Sprint(name, "-", rnd.IntN(2)),
				Node: []string{"", "n0", "n1", "n2"}[rnd.IntN(4)], Ready: rnd.IntN(3) > 0, Deleting: rnd.IntN(5) == 0,
				Disruption: []string{"", "", "EvictionByEvictionAPI", "DeletionByTaintManager"}[rnd.IntN(4)],
				Phase:      []string{"Running", "Running", "Running", "Pending", "Succeeded"}[rnd.IntN(5)], DaemonSet: rnd.IntN(8) == 0,
				Labels: map[string]string{"app": []string{"web", "db"}[rnd.IntN(2)]},
			}
		case 8:
			c.deleted, c.name = "pod", fmt.Sprint("p", rnd.IntN(8))
		case 9, 10:
			c.budget = &noderoll.Budget{
				Namespace: "shop", Name: fmt.Sprint("b", rnd.IntN(3)), Stale: rnd.IntN(8) == 0,
				Selector:           []*metav1.LabelSelector{selectApp("web"), selectApp("db"), selectApp("db"), {}}[rnd.IntN(4)],
				DisruptionsAllowed: int32(rnd.IntN(4) / 3), CurrentHealthy: int32(rnd.IntN(3)), DesiredHealthy: 1, EvictUnhealthy: rnd.IntN(3) == 0,
			}
		case 11:
			if rnd.IntN(2) == 0 {
				c.deleted, c.name = "budget", fmt.Sprint("b", rnd.IntN(3))
				break
			}
			c.event = &noderoll.EventRecord{
				Namespace: "default", Name: fmt.Sprint("e", rnd.IntN(4)), Type: "Warning", Kind: "Node",
				ObjectName: fmt.Sprint("n", rnd.IntN(5)), Reason: "R", Message: fmt.Sprint(rnd.IntN(2)), Time: epoch.Add(at),
			}
		}
		out = append(out, c)
	}
	return out
}

func selectApp(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func (c *change) feed(f *noderoll.Feed) []noderoll.Entry {
	switch {
	case c.node != nil:
		return f.SetNode(c.at, *c.node)
	case c.pod != nil:
		return f.SetPod(c.at, *c.pod)
	case c.budget != nil:
		return f.SetBudget(c.at, *c.budget)
	case c.event != nil:
		return f.SetEvent(c.at, *c.event)
	case c.deleted == "node":
		return f.DeleteNode(c.at, c.name, "")
	case c.deleted == "pod":
		return f.DeletePod(c.at, "shop", c.name, "")
	}
	return f.DeleteBudget(c.at, "shop", c.name)
}

// naiveState is the state as one would write it without a thought for cost: maps of
// objects, and everything counted again when asked for.
type naiveState struct {
	nodes    map[string]noderoll.Node
	pods     map[string]noderoll.Pod
	budgets  map[string]noderoll.Budget
	wasReady map[string]bool // by UID
	peaks    map[string]int  // by name, of drains that go on
	drained  map[string]bool // by name: somebody drains it
	left     bool            // the last change took a pod from a draining node
}

func newNaiveState() *naiveState {
	return &naiveState{map[string]noderoll.Node{}, map[string]noderoll.Pod{}, map[string]noderoll.Budget{}, map[string]bool{}, map[string]int{}, map[string]bool{}, false}
}

// draining reports whether a node is there and cordoned.
func (w *naiveState) draining(name string) bool { return w.nodes[name].Unschedulable }

// evidence notes what the change shows of drains, before it is applied.
func (w *naiveState) evidence(c *change) {
	w.left = false
	name := c.name
	if c.pod != nil {
		name = c.pod.Name
	}
	old, known := w.pods[name]
	waits := known && old.Evictable() && !old.Deleting
	replaced := c.pod != nil && known && (old.UID != c.pod.UID || old.Node != "" && old.Node != c.pod.Node)
	switch {
	case c.deleted == "node" || c.node != nil && (!c.node.Unschedulable || w.nodes[c.node.Name].UID != c.node.UID):
		delete(w.drained, first(c.name, nameOf(c.node)))
	case c.deleted == "pod" || replaced:
		if w.draining(old.Node) {
			w.left = known && old.Evictable()
			w.drained[old.Node] = w.drained[old.Node] || waits
		}
	case c.pod != nil && w.draining(c.pod.Node):
		w.left = known && old.Node != "" && old.Evictable() && !c.pod.Evictable()
	}
	if c.pod == nil || !c.pod.Evictable() || !c.pod.Deleting {
		return
	}
	evicted := c.pod.Disruption == "EvictionByEvictionAPI"
	if w.draining(c.pod.Node) && (evicted || waits && !replaced && c.pod.Disruption == "") {
		w.drained[c.pod.Node] = true
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func nameOf(n *noderoll.Node) string {
	if n == nil {
		return ""
	}
	return n.Name
}

// cordoned begins a drain with those that were evicted before.
func (w *naiveState) cordoned(n *noderoll.Node) {
	if !n.Unschedulable || w.draining(n.Name) && w.nodes[n.Name].UID == n.UID {
		return
	}
	for _, p := range w.pods {
		if p.Node == n.Name && p.Evictable() && p.Deleting && p.Disruption == "EvictionByEvictionAPI" {
			w.drained[n.Name] = true
		}
	}
}

func (w *naiveState) apply(c *change) {
	w.evidence(c)
	switch {
	case c.node != nil:
		w.cordoned(c.node)
		if old, ok := w.nodes[c.node.Name]; ok && old.UID != c.node.UID {
			delete(w.peaks, c.node.Name)
			delete(w.wasReady, old.UID)
		}
		w.nodes[c.node.Name] = *c.node
	case c.pod != nil:
		w.pods[c.pod.Name] = *c.pod
	case c.budget != nil:
		w.budgets[c.budget.Name] = *c.budget
	case c.deleted == "node":
		delete(w.wasReady, w.nodes[c.name].UID)
		delete(w.nodes, c.name)
		delete(w.peaks, c.name)
	case c.deleted == "pod":
		delete(w.pods, c.name)
	case c.deleted == "budget":
		delete(w.budgets, c.name)
	}
}

func (w *naiveState) snapshot() noderoll.Snapshot {
	s := noderoll.Snapshot{Nodes: []noderoll.NodeView{}}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		n := w.nodes[name]
		v := noderoll.NodeView{
			Name: name, UID: n.UID, Ready: n.Ready == "True", Pressure: n.Pressure.Types(),
			Image: n.Labels[noderoll.LabelImage], OnTarget: n.Labels[noderoll.LabelImage] == newImage,
		}
		v.Phase = noderoll.Classify(&n, w.wasReady[n.UID], nil)
		w.wasReady[n.UID] = w.wasReady[n.UID] || v.Ready
		if v.Phase == noderoll.PhaseDraining {
			for _, p := range w.pods {
				if p.Node == name && p.Evictable() {
					v.Pods++
				}
			}
			w.peaks[name] = max(w.peaks[name], v.Pods)
			v.PodsTotal = w.peaks[name]
			v.Cordoned, v.HeldBy = !w.drained[name], w.held(name)
		} else {
			delete(w.peaks, name)
		}
		s.Nodes = append(s.Nodes, v)
	}
	s.Tally()
	return s
}

// held names the first budget of those that refuse every pod which the drain of a
// node has still to evict, "" where one may go.
func (w *naiveState) held(node string) string {
	waiting, refused, by := 0, 0, ""
	for _, p := range w.pods {
		if p.Node != node || !p.Evictable() || p.Deleting {
			continue
		}
		waiting++
		var covering []noderoll.Budget
		for _, b := range w.budgets {
			if sel, _ := metav1.LabelSelectorAsSelector(b.Selector); sel.Matches(labels.Set(p.Labels)) {
				covering = append(covering, b)
				if name := b.Namespace + "/" + b.Name; by == "" || name < by {
					by = name
				}
			}
		}
		switch {
		case p.Phase == "Pending" || len(covering) == 0:
		case len(covering) > 1:
			refused++
		default:
			b := covering[0]
			free := !p.Ready && (b.EvictUnhealthy || b.CurrentHealthy >= b.DesiredHealthy && b.DesiredHealthy > 0)
			if !free && (b.Stale || b.DisruptionsAllowed == 0) {
				refused++
			}
		}
	}
	if waiting == 0 || refused < waiting {
		return ""
	}
	return by
}

// blocked lists the draining nodes, with their UIDs, that no eviction could help
// now.
func (w *naiveState) blocked() []string {
	var out []string
	for _, v := range w.snapshot().Nodes {
		if v.HeldBy != "" {
			out = append(out, v.Name+" "+v.UID)
		}
	}
	return out
}

// sameNode compares what isn't of pods and budgets.
func sameNode(a, b noderoll.NodeView) bool {
	a.Pods, a.PodsTotal, a.HeldBy, b.Pods, b.PodsTotal, b.HeldBy = 0, 0, "", 0, 0, ""
	return cmp.Equal(a, b)
}

// The indexed State shows what its twin counts, the Feed's transitions are those
// of a Tracker that observes every snapshot, and a node is called blocked exactly
// when the twin has found it so at every look of the last ten seconds.
func TestFeedEqualsNaiveFeed(t *testing.T) {
	blockades := 0
	for seed := range uint64(80) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		f := noderoll.NewFeed(noderoll.FeedOptions{Verbose: true, StateOptions: noderoll.StateOptions{Target: noderoll.Target{Image: newImage}}})
		for _, resource := range []string{noderoll.Nodes, noderoll.Pods, noderoll.Budgets, noderoll.Events} {
			f.Synced(0, resource)
		}
		w, tr := newNaiveState(), noderoll.NewTracker()
		tr.Observe(w.snapshot())
		since := map[string]time.Duration{}
		called, cordoned := map[string]bool{}, map[string]bool{}
		was := w.snapshot()
		waitsAs := map[string]bool{}
		var blocked, wantBlocked []string
		var transitions []noderoll.Event
		var checker noderoll.EntryChecker
		for _, c := range randomChanges(rnd, 150) {
			for id, begun := range since {
				if due := begun + noderoll.BlockedAfter; due <= c.at && !called[id] {
					called[id] = true
					name, _, _ := strings.Cut(id, " ")
					wantBlocked = append(wantBlocked, fmt.Sprint(due, name))
				}
			}
			for _, e := range c.feed(f) {
				if err := checker.Check(e); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				switch e.Kind {
				case noderoll.EvtBlocked:
					blocked = append(blocked, fmt.Sprint(e.At, e.Node))
				case noderoll.EvtCordoned:
					cordoned[e.Node] = true
					transitions = append(transitions, noderoll.Event{Node: e.Node, Kind: noderoll.EvtDraining})
				case noderoll.EvtDraining:
					if !cordoned[e.Node] {
						transitions = append(transitions, noderoll.Event{Node: e.Node, Kind: e.Kind})
					}
					delete(cordoned, e.Node)
				case noderoll.EvtJoining, noderoll.EvtOnline, noderoll.EvtNotReady, noderoll.EvtTerminated:
					transitions = append(transitions, noderoll.Event{Node: e.Node, Kind: e.Kind})
					delete(cordoned, e.Node)
				}
			}
			w.apply(&c)
			want := w.snapshot()
			tr.Observe(want)
			got := f.Snapshot(epoch.Add(c.at))
			if err := got.Check(); err != nil {
				t.Fatalf("seed %d at %s: %v", seed, c.at, err)
			}
			got.Warnings = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d at %s: Snapshot (-twin +got):\n%s", seed, c.at, diff)
			}
			// The twin's rule for nodes that are only cordoned: their turn comes when
			// nobody is drained, and nothing has moved.
			moved := w.left || !slices.EqualFunc(was.Nodes, want.Nodes, sameNode)
			was = want
			now := w.blocked()
			busy := want.Draining > want.Cordoned
			for _, v := range want.Nodes {
				id := v.Name + " " + v.UID
				if called[id] || v.Phase != noderoll.PhaseDraining {
					continue
				}
				if begun, kind := since[id], waitsAs[id]; begun > 0 && kind != v.Cordoned || v.Cordoned && moved {
					delete(since, id)
				}
				waitsAs[id] = v.Cordoned
				if v.Cordoned && busy {
					now = slices.DeleteFunc(now, func(x string) bool { return x == id })
				}
			}
			for name := range since {
				if !slices.Contains(now, name) {
					delete(since, name)
					delete(called, name)
				}
			}
			for _, name := range now {
				if _, ok := since[name]; !ok {
					since[name] = c.at
				}
			}
		}
		slices.Sort(wantBlocked)
		slices.Sort(blocked)
		if diff := cmp.Diff(wantBlocked, blocked); diff != "" {
			t.Fatalf("seed %d: blocked (-twin +got):\n%s", seed, diff)
		}
		if diff := cmp.Diff(tr.Events, transitions); diff != "" {
			t.Fatalf("seed %d: transitions (-Tracker +got):\n%s", seed, diff)
		}
		blockades += len(blocked)
	}
	if blockades < 30 {
		t.Errorf("%d blockades in all worlds: too few to prove anything", blockades)
	}
}

// However time is advanced between the changes, the entries are the same.
func TestFeedIsTheSameHoweverTimePasses(t *testing.T) {
	for seed := range uint64(80) {
		changes := randomChanges(rand.New(rand.NewPCG(seed, 0)), 120)
		rnd, step := rand.New(rand.NewPCG(seed, 0)), 3*time.Second
		if seed%2 == 1 { // minutes, in which pools rest
			step *= 60
			for i := range changes {
				changes[i].at *= 60
				if n := changes[i].node; n != nil && seed%4 == 1 { // of one image, some of them not needed
					n.Labels[noderoll.LabelImage] = oldImage
					if n.Unschedulable && i%2 == 0 {
						n.TaintKeys = []string{"ToBeDeletedByClusterAutoscaler"}
					}
				}
			}
		}
		play := func(advance func(f *noderoll.Feed, to time.Duration) []noderoll.Entry) []noderoll.Entry {
			f := noderoll.NewFeed(noderoll.FeedOptions{Verbose: true})
			for _, resource := range []string{noderoll.Nodes, noderoll.Pods, noderoll.Budgets, noderoll.Events} {
				f.Synced(0, resource)
			}
			var out []noderoll.Entry
			for _, c := range changes {
				out = append(out, advance(f, c.at)...)
				out = append(out, c.feed(f)...)
			}
			return append(out, f.Advance(changes[len(changes)-1].at+time.Minute)...)
		}
		want := play(func(*noderoll.Feed, time.Duration) []noderoll.Entry { return nil })
		byDeadline := play(func(f *noderoll.Feed, to time.Duration) (out []noderoll.Entry) {
			for {
				at, ok := f.NextDeadline()
				if !ok || at > to {
					return out
				}
				out = append(out, f.Advance(at)...)
			}
		})
		atRandom := play(func(f *noderoll.Feed, to time.Duration) (out []noderoll.Entry) {
			for at := f.At(); at < to; at += time.Duration(1 + rnd.Int64N(int64(step))) {
				out = append(out, f.Advance(at)...)
			}
			return out
		})
		if diff := cmp.Diff(want, byDeadline); diff != "" {
			t.Fatalf("seed %d, deadline by deadline (-want +got):\n%s", seed, diff)
		}
		if diff := cmp.Diff(want, atRandom); diff != "" {
			t.Fatalf("seed %d, at random (-want +got):\n%s", seed, diff)
		}
	}
}
