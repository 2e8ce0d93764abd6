package analysis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// stretch is a part of a tape.
type stretch struct{ from, to time.Duration }

// together is the time in any of the stretches, as far as it lies between two positions.
func together(all []stretch, from, to time.Duration) (sum time.Duration) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b stretch) int { return int(a.from - b.from) })
	for _, s := range all {
		s.from, s.to = max(s.from, from), min(s.to, to)
		if s.to > s.from {
			sum, from = sum+s.to-s.from, s.to
		}
	}
	return sum
}

// waiting works out as simply as it can what waited for budgets: after each line it looks at all pods of nodes that the feed
// says are drained.
type waiting struct {
	*recount
	drained  map[string]bool          // nodes
	cordoned map[string]time.Duration // nodes
	blocked  map[string]stretch       // cordoned nodes, since when
	by       map[string]string        // and by which budget
	refused  map[string]string        // pods by namespace/name that are refused now, and by which budget

	asked map[string]time.Duration // pods that a drain has to move, since when
	ever  map[string][]string      // and the budgets that have refused them

	held    map[string][]stretch                           // of budgets
	kept    map[string][]stretch                           // of budgets: from a drain's beginning until what they refused was granted
	refusal map[string]time.Duration                       // of workloads
	longest map[string]map[string]map[string]time.Duration // by node, budget and pod
	ends    map[string]ending                              // pods by namespace/name
	grace   map[string]map[string]time.Duration            // the longest that deleted pods took, by node and workload
	final   map[string]bool                                // nodes with pods that finalizers keep
	lacks   map[string]time.Duration                       // of budgets
	most    map[string]int                                 // of budgets
	covers  map[string]map[string]bool                     // budgets of workloads
	unbound map[string]time.Duration                       // pods without a node, since when
	waited  map[string]time.Duration                       // the longest such wait of workloads
}

func newWaiting() *waiting {
	return &waiting{
		recount: newRecount(), drained: map[string]bool{}, cordoned: map[string]time.Duration{}, blocked: map[string]stretch{}, by: map[string]string{}, refused: map[string]string{},
		asked: map[string]time.Duration{}, ever: map[string][]string{}, kept: map[string][]stretch{}, ends: map[string]ending{},
		grace: map[string]map[string]time.Duration{}, final: map[string]bool{},
		held: map[string][]stretch{}, refusal: map[string]time.Duration{}, longest: map[string]map[string]map[string]time.Duration{}, lacks: map[string]time.Duration{},
		most: map[string]int{}, covers: map[string]map[string]bool{}, unbound: map[string]time.Duration{}, waited: map[string]time.Duration{},
	}
}

// selecting are the budgets that select a pod, by name.
func (w *waiting) selecting(p object) (keys []string) {
	for key, b := range w.budgets {
		if str(b, "metadata", "namespace") == str(p, "metadata", "namespace") && selects(b, p) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// refusing is the budget that makes the server refuse to evict a pod, "" where none does: EvictionREST.Create in
// pkg/registry/core/pod/storage/eviction.go of Kubernetes.
func (w *waiting) refusing(p object) string {
	keys := w.selecting(p)
	if phase := str(p, "status", "phase"); len(keys) == 0 || phase == "Pending" || phase == "" {
		return ""
	}
	if len(keys) > 1 {
		return keys[0]
	}
	b := w.budgets[keys[0]]
	healthy, desired := number(b, "status", "currentHealthy"), number(b, "status", "desiredHealthy")
	if str(condition(p, "Ready"), "status") != "True" {
		if str(b, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow" || desired > 0 && healthy >= desired {
			return ""
		}
	}
	if number(b, "status", "observedGeneration") >= number(b, "metadata", "generation") && number(b, "status", "disruptionsAllowed") > 0 {
		return ""
	}
	return keys[0]
}

// stands reports whether a drain has to move a pod and hasn't yet.
func stands(p object) bool { return evictable(p) && get(p, "metadata", "deletionTimestamp") == nil }

// between lets the time up to the next line go by.
func (w *waiting) between(at time.Duration) {
	from := w.at
	if d := at - from; d > 0 {
		for key, b := range w.refused {
			p := w.pods[key]
			w.held[b] = append(w.held[b], stretch{from, at})
			w.refusal[workload(p)] += d
			node := str(p, "spec", "nodeName")
			if w.longest[node] == nil {
				w.longest[node] = map[string]map[string]time.Duration{}
			}
			if w.longest[node][b] == nil {
				w.longest[node][b] = map[string]time.Duration{}
			}
			w.longest[node][b][key+str(p, "metadata", "uid")] += d
		}
		for key, b := range w.budgets {
			if number(b, "status", "currentHealthy") >= number(b, "status", "desiredHealthy") {
				continue
			}
			for _, p := range w.pods {
				if str(p, "metadata", "namespace") == str(b, "metadata", "namespace") && selects(b, p) {
					w.lacks[key] += d
					break
				}
			}
		}
	}
}

// line takes a line, and what the feed tells of it.
func (w *waiting) line(ev *timeline.Event, entries []noderoll.Entry) {
	w.between(ev.At)
	key := ev.Namespace + "/" + ev.Name
	was, known := w.pods[key]
	w.take(ev)
	if ev.Type.Object() && ev.Resource == "pods" {
		w.pending(key, was, known, ev.Type == timeline.Deleted)
	}
	if ev.Type.Object() && ev.Resource == "poddisruptionbudgets" && ev.Type != timeline.Deleted {
		w.most[key] = max(w.most[key], number(w.budgets[key], "status", "desiredHealthy"))
	}
	for _, e := range entries {
		w.entry(e)
	}
	if ev.Resource != "pods" && ev.Resource != "poddisruptionbudgets" && len(entries) == 0 {
		return
	}
	if ev.Type.Object() && ev.Resource == "poddisruptionbudgets" {
		for _, p := range w.pods {
			w.cover(p)
		}
	} else if p := w.pods[key]; ev.Resource == "pods" && p != nil {
		w.cover(p)
	}
	clear(w.refused)
	there := map[string]bool{}
	w.end(false)
	for key, p := range w.pods {
		node := str(p, "spec", "nodeName")
		if !w.drained[node] || !evictable(p) {
			continue
		}
		if !stands(p) {
			if _, ends := w.ends[key]; !ends {
				w.ends[key] = ending{w.at, node, workload(p), str(p, "metadata", "uid")}
			}
			w.final[node] = w.final[node] || len(list(p, "metadata", "finalizers")) > 0
			continue
		}
		there[key] = true
		if _, asked := w.asked[key]; !asked {
			w.asked[key] = w.at
		}
		if b := w.refusing(p); b != "" {
			w.refused[key] = b
			if !slices.Contains(w.ever[key], b) {
				w.ever[key] = append(w.ever[key], b)
			}
		}
	}
	w.granted(there)
}

// ending is a pod that is deleted on a node that is drained.
type ending struct {
	since              time.Duration
	node, workload, id string
}

// end counts the time that deleted pods took, of those that are gone, or of all.
func (w *waiting) end(all bool) {
	for key, e := range w.ends {
		if p := w.pods[key]; !all && w.drained[e.node] && p != nil && evictable(p) && str(p, "metadata", "uid") == e.id {
			continue
		}
		if w.grace[e.node] == nil {
			w.grace[e.node] = map[string]time.Duration{}
		}
		if d := w.at - e.since; d > w.grace[e.node][e.workload] {
			w.grace[e.node][e.workload] = d
		}
		delete(w.ends, key)
	}
}

// cover notes the budgets of a pod for its workload.
func (w *waiting) cover(p object) {
	of := workload(p)
	if w.covers[of] == nil {
		w.covers[of] = map[string]bool{}
	}
	for _, b := range w.selecting(p) {
		w.covers[of][b] = true
	}
}

// granted ends the time for which pods stood on drained nodes that don't stand there any more. The drainer asks again
// only after a while, so that it is longer than the time of being refused.
func (w *waiting) granted(there map[string]bool) {
	for key, since := range w.asked {
		if there[key] {
			continue
		}
		for _, b := range w.ever[key] {
			w.kept[b] = append(w.kept[b], stretch{since, w.at})
		}
		delete(w.asked, key)
		delete(w.ever, key)
	}
}

// pending follows how long a pod is without a node.
func (w *waiting) pending(key string, was object, known, gone bool) {
	p := w.pods[key]
	if !known {
		w.unbound[key] = w.at
	}
	if gone {
		p = was
	}
	if since, waits := w.unbound[key]; waits && (gone || str(p, "spec", "nodeName") != "" || !stands(p) && (ended(p) || get(p, "metadata", "deletionTimestamp") != nil)) {
		delete(w.unbound, key)
		w.waited[workload(p)] = max(w.waited[workload(p)], w.at-since)
	}
}

func (w *waiting) entry(e noderoll.Entry) {
	switch e.Kind {
	case noderoll.EvtCordoned:
		w.cordoned[e.Node] = e.At
	case noderoll.EvtDraining:
		w.drained[e.Node] = true
		w.unblock(e)
		w.begin(e)
	case noderoll.EvtUnblocked:
		w.unblock(e)
	case noderoll.EvtOnline, noderoll.EvtJoining, noderoll.EvtNotReady, noderoll.EvtTerminated:
		w.unblock(e)
		w.begin(e)
		if e.Kind != noderoll.EvtTerminated { // another drain begins anew
			delete(w.longest, e.Node)
			delete(w.grace, e.Node)
		}
		delete(w.drained, e.Node)
		delete(w.cordoned, e.Node)
	case noderoll.EvtBlocked:
		if w.drained[e.Node] {
			return
		}
		first := ""
		for _, p := range w.pods {
			if str(p, "spec", "nodeName") == e.Node && stands(p) {
				if b := w.refusing(p); b != "" && (first == "" || b < first) {
					first = b
				}
			}
		}
		if first != "" {
			w.blocked[e.Node], w.by[e.Node] = stretch{from: max(e.At-noderoll.BlockedAfter, w.cordoned[e.Node], 0)}, first
		}
	}
}

// begin ends the time for which a cordoned node that was blocked waited for its drain, or for its end.
func (w *waiting) begin(e noderoll.Entry) {
	if b := w.by[e.Node]; b != "" {
		w.kept[b] = append(w.kept[b], stretch{w.cordoned[e.Node], w.at})
		delete(w.by, e.Node)
	}
}

func (w *waiting) unblock(e noderoll.Entry) {
	if s, is := w.blocked[e.Node]; is {
		s.to = w.at
		w.held[w.by[e.Node]] = append(w.held[w.by[e.Node]], s)
		delete(w.blocked, e.Node)
	}
}

// What waited for budgets and for nodes, and for how long, is what a recount gives, on all scenarios and recordings.
func TestARecountOfWaitsGivesTheSame(t *testing.T) {
	for _, tp := range everyTape(t) {
		t.Run(tp.name, func(t *testing.T) {
			t.Parallel()
			r, err := tp.open()
			if err != nil {
				t.Fatal(err)
			}
			w := newWaiting()
			o := options(t, r)
			o.Pods = noderoll.PodScope{}
			f := observe.New(r.Header(), o.Options)
			for ev, err := range r.All() {
				if err != nil {
					t.Fatal(err)
				}
				if ev.Type == timeline.Refused {
					return // the server's word counts there, which held_test.go checks
				}
				entries, err := f.Apply(ev)
				if err != nil {
					t.Fatal(err)
				}
				w.line(&ev, entries)
			}
			for node := range w.blocked {
				w.unblock(noderoll.Entry{Node: node})
			}
			for node := range w.by {
				w.begin(noderoll.Entry{Node: node})
			}
			w.granted(nil)
			w.end(true)
			for key, since := range w.unbound {
				w.waited[workload(w.pods[key])] = max(w.waited[workload(w.pods[key])], w.at-since)
			}
			a := tp.analyse(t, false)
			w.same(t, a)
			w.rolls(t, a, f.OffTarget())
		})
	}
}

func (w *waiting) same(t *testing.T, a *analysis.Analysis) {
	t.Helper()
	for _, b := range a.Budgets {
		key := b.Namespace + "/" + b.Name
		if want := together(w.held[key], 0, a.Tape.Duration); b.Held != want {
			t.Errorf("budget %s held up drains for %s, want %s", key, b.Held, want)
		}
	}
	for _, v := range a.Workloads {
		key := v.Kind + "/" + v.Namespace + "/" + v.Name
		wanted, below := 0, time.Duration(0)
		for b := range w.covers[key] {
			wanted, below = max(wanted, w.most[b]), max(below, w.lacks[b])
		}
		got := fmt.Sprint(v.Refused, v.LongestWait, v.Wanted, v.BelowWanted)
		if want := fmt.Sprint(w.refusal[key], w.waited[key], wanted, below); got != want {
			t.Errorf("%s: refused, longest wait, wanted, below it %s, want %s", key, got, want)
		}
	}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		if n.DrainBegan == nil || slices.ContainsFunc(a.Nodes[i+1:], func(o analysis.Node) bool { return o.Name == n.Name }) {
			continue
		}
		got, graces, joins := map[string]time.Duration{}, map[string]time.Duration{}, time.Duration(0)
		for _, wait := range n.Waits {
			switch {
			case wait.Kind == analysis.WaitGrace:
				graces[wait.Object] = wait.Duration
			case wait.Kind == analysis.WaitNodeReady && wait.Phase == analysis.PhaseJoining:
				joins = wait.Duration
			}
			if wait.Kind == analysis.WaitBudget && wait.Phase == analysis.PhaseDraining {
				got[strings.TrimPrefix(wait.Object, "PodDisruptionBudget/")] = wait.Duration
			}
		}
		want := map[string]time.Duration{}
		for b, pods := range w.longest[n.Name] {
			for _, d := range pods {
				want[b] = max(want[b], d)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s waited for budgets %v, want %v", n.Name, got, want)
		}
		if !w.final[n.Name] && fmt.Sprint(graces) != fmt.Sprint(w.grace[n.Name]) {
			t.Errorf("%s waited for pods that were deleted %v, want %v", n.Name, graces, w.grace[n.Name])
		}
		if n.Joined != nil && n.Ready != nil && joins != w.ready[n.UID]-w.joined[n.UID] {
			t.Errorf("%s waited %s for its readiness, want %s", n.Name, joins, w.ready[n.UID]-w.joined[n.UID])
		}
	}
}

// rolls holds what a roll left, and what would have made it shorter, to the recount: no budget costs more than the time in
// which it kept something from being evicted.
func (w *waiting) rolls(t *testing.T, a *analysis.Analysis, offTarget int) {
	t.Helper()
	for _, r := range a.Rolls {
		switch {
		case r.Pods != "":
			continue
		case r.Outcome == analysis.Complete && r.Left != 0:
			t.Errorf("the roll of %s is complete and has left %d nodes", r.Group, r.Left)
		case r.Outcome == analysis.Unfinished && len(a.Rolls) == 1 && r.Left > 0 && r.Left != offTarget:
			t.Errorf("the roll of %s has left %d nodes, want %d", r.Group, r.Left, offTarget)
		}
		for _, s := range r.Savings {
			if s.Wait != analysis.WaitBudget {
				continue
			}
			if kept := together(w.kept[strings.TrimPrefix(s.Object, "PodDisruptionBudget/")], r.Start.At, r.End.At); s.Saves > kept {
				t.Errorf("the roll of %s would be %s shorter without %s, which kept pods for %s", r.Group, s.Saves, s.Object, kept)
			}
		}
	}
}
