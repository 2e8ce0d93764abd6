package analysis_test

import (
	"encoding/json"
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

type object = map[string]any

func get(o any, path ...string) any {
	for _, name := range path {
		m, _ := o.(object)
		o = m[name]
	}
	return o
}

func str(o any, path ...string) string { s, _ := get(o, path...).(string); return s }

func number(o any, path ...string) int { n, _ := get(o, path...).(float64); return int(n) }

func list(o any, path ...string) []any { l, _ := get(o, path...).([]any); return l }

func condition(o any, typ string) object {
	for _, c := range list(o, "status", "conditions") {
		if str(c, "type") == typ {
			return c.(object)
		}
	}
	return nil
}

// recount works out the numbers of an analysis as simply as it can: it keeps whole objects in maps, and after each line it
// looks at all of them.
type recount struct {
	nodes, pods, budgets map[string]object // by namespace/name
	listed               map[string]bool
	began                map[string]time.Duration
	at                   time.Duration

	joined, ready, terminated map[string]time.Duration // of nodes, by UID

	level, most, least     map[string]int // of workloads
	seen                   map[string]bool
	below                  map[string]map[int]time.Duration
	evicted, lost, deleted map[string]int
	restarts               map[string]int
	pending                map[string]time.Duration
	pendingSince           map[string]time.Duration // of pods, by UID
	counted                map[string]bool          // pods whose deletion is
	restarted              map[string]int           // of pods, by UID
	zero                   map[string]time.Duration // of budgets
	workloads              map[string]string        // of pods, by UID
	everReady              map[string]bool
	images                 map[string]string // of containers, by pod's UID and name
	asked                  map[string]bool   // another image than runs
	counts                 map[string]int    // restarts of containers
	updates                map[string]int
	initial                map[string]bool
	done                   map[string]bool // pods, by UID, that had done their work before their deletion
}

func newRecount() *recount {
	return &recount{
		nodes: map[string]object{}, pods: map[string]object{}, budgets: map[string]object{}, listed: map[string]bool{}, began: map[string]time.Duration{},
		joined: map[string]time.Duration{}, ready: map[string]time.Duration{}, terminated: map[string]time.Duration{},
		level: map[string]int{}, most: map[string]int{}, least: map[string]int{}, seen: map[string]bool{}, below: map[string]map[int]time.Duration{},
		evicted: map[string]int{}, lost: map[string]int{}, deleted: map[string]int{}, restarts: map[string]int{},
		pending: map[string]time.Duration{}, pendingSince: map[string]time.Duration{}, counted: map[string]bool{}, restarted: map[string]int{},
		zero: map[string]time.Duration{}, workloads: map[string]string{}, everReady: map[string]bool{}, initial: map[string]bool{},
		images: map[string]string{}, asked: map[string]bool{}, counts: map[string]int{}, updates: map[string]int{},
		done: map[string]bool{},
	}
}

// workload names a pod's workload.
func workload(p object) string {
	kind, owner := "Pod", str(p, "metadata", "name")
	for _, o := range list(p, "metadata", "ownerReferences") {
		if get(o, "controller") == true || kind == "Pod" {
			kind, owner = str(o, "kind"), str(o, "name")
		}
	}
	if hash := str(p, "metadata", "labels", "pod-template-hash"); kind == "ReplicaSet" && hash != "" {
		if name, cut := strings.CutSuffix(owner, "-"+hash); cut {
			kind, owner = "Deployment", name
		}
	}
	return kind + "/" + str(p, "metadata", "namespace") + "/" + owner
}

func ended(p object) bool {
	phase := str(p, "status", "phase")
	return phase == "Succeeded" || phase == "Failed"
}

func evictable(p object) bool {
	for _, o := range list(p, "metadata", "ownerReferences") {
		if str(o, "kind") == "DaemonSet" {
			return false
		}
	}
	return !ended(p) && get(p, "metadata", "annotations", "kubernetes.io/config.mirror") == nil
}

func available(p object) bool {
	return str(condition(p, "Ready"), "status") == "True" && get(p, "metadata", "deletionTimestamp") == nil && !ended(p)
}

// pass lets time go by.
func (c *recount) pass(at time.Duration) {
	d := at - c.at
	c.at = at
	if d == 0 {
		return
	}
	if !c.listed["pods"] && c.began["pods"] < at {
		c.list("pods")
	}
	for w := range c.seen {
		if c.below[w] == nil {
			c.below[w] = map[int]time.Duration{}
		}
		c.below[w][c.level[w]] += d
	}
	for key, b := range c.budgets {
		if number(b, "status", "disruptionsAllowed") > 0 {
			continue
		}
		for _, p := range c.pods {
			if str(p, "metadata", "namespace") == str(b, "metadata", "namespace") && selects(b, p) {
				c.zero[key] += d
				break
			}
		}
	}
}

func selects(b, p object) bool {
	for k, v := range get(b, "spec", "selector", "matchLabels").(object) {
		if get(p, "metadata", "labels", k) != v {
			return false
		}
	}
	return true
}

func (c *recount) list(resource string) {
	c.listed[resource] = true
	if resource != "pods" {
		return
	}
	for _, p := range c.pods {
		w := workload(p)
		c.seen[w], c.least[w] = true, c.level[w]
	}
}

func (c *recount) take(ev *timeline.Event) {
	c.pass(ev.At)
	if ev.Type == timeline.Sync || ev.Type == timeline.Gap {
		if !c.listed[ev.Resource] {
			c.list(ev.Resource)
		}
		return
	}
	if !ev.Type.Object() {
		return
	}
	if _, known := c.began[ev.Resource]; !known {
		c.began[ev.Resource] = ev.At
	}
	var o object
	if err := json.Unmarshal(ev.Object, &o); err != nil {
		panic(err)
	}
	key := ev.Namespace + "/" + ev.Name
	gone := ev.Type == timeline.Deleted
	switch ev.Resource {
	case "nodes":
		c.node(key, ev.UID, o, gone)
	case "pods":
		c.pod(key, ev.UID, o, gone)
	case "poddisruptionbudgets":
		if c.budgets[key] = o; gone {
			delete(c.budgets, key)
		}
	}
}

func (c *recount) node(key, uid string, o object, gone bool) {
	_, known := c.nodes[key]
	if !known && c.listed["nodes"] {
		c.joined[uid] = c.at
	}
	if str(condition(o, "Ready"), "status") == "True" && !c.everReady[uid] {
		c.everReady[uid] = true
		if known || c.listed["nodes"] {
			c.ready[uid] = c.at
		}
	}
	if c.nodes[key] = o; gone {
		c.terminated[uid] = c.at
		delete(c.nodes, key)
	}
}

func (c *recount) pod(key, uid string, o object, gone bool) {
	w := workload(o)
	restarts := 0
	for _, s := range append(list(o, "status", "containerStatuses"), list(o, "status", "initContainerStatuses")...) {
		restarts += number(s, "restartCount")
	}
	if _, known := c.pods[key]; !known {
		c.pendingSince[uid] = c.at
		if c.initial[uid] = !c.listed["pods"]; c.initial[uid] {
			c.restarted[uid] = restarts
			c.counted[uid] = get(o, "metadata", "deletionTimestamp") != nil
		}
	}
	updates := c.replaced(uid, o)
	c.updates[w] += updates
	c.restarts[w] += max(restarts-c.restarted[uid]-updates, 0)
	c.restarted[uid] = restarts
	deleting := get(o, "metadata", "deletionTimestamp") != nil
	c.done[uid] = str(o, "status", "phase") == "Succeeded" && (c.done[uid] || !deleting)
	if since, waits := c.pendingSince[uid]; waits && (str(o, "spec", "nodeName") != "" || ended(o) || deleting || gone) {
		c.pending[w] += c.at - since
		delete(c.pendingSince, uid)
	}
	if (deleting || gone) && !c.counted[uid] {
		c.counted[uid] = true
		d := condition(o, "DisruptionTarget")
		on := str(o, "spec", "nodeName")
		_, there := c.nodes["/"+on]
		switch {
		case str(d, "status") == "True" && str(d, "reason") == "EvictionByEvictionAPI":
			c.evicted[w]++
		case !c.done[uid] && (str(d, "status") == "True" && str(d, "reason") == "DeletionByPodGC" || on != "" && !there):
			c.lost[w]++
		default:
			c.deleted[w]++
		}
	}
	if c.pods[key] = o; gone {
		delete(c.pods, key)
	}
	level := 0
	for _, p := range c.pods {
		if workload(p) == w && available(p) {
			level++
		}
	}
	c.level[w], c.most[w] = level, max(c.most[w], level)
	switch {
	case !c.listed["pods"]:
	case !c.seen[w]:
		if level > 0 {
			c.seen[w], c.least[w] = true, level
		}
	default:
		c.least[w] = min(c.least[w], level)
	}
}

// replaced counts the containers that restarted with another image than before.
func (c *recount) replaced(uid string, o object) (count int) {
	for _, spec := range list(o, "spec", "containers") {
		key := uid + "/" + str(spec, "name")
		if was, known := c.images[key]; known && was != str(spec, "image") {
			c.asked[key] = true
		}
		c.images[key] = str(spec, "image")
	}
	for _, s := range list(o, "status", "containerStatuses") {
		key := uid + "/" + str(s, "name")
		if n := number(s, "restartCount"); n > c.counts[key] && c.asked[key] {
			count++
			delete(c.asked, key)
		}
		c.counts[key] = number(s, "restartCount")
	}
	return count
}

// Every number of an analysis is what a recount gives, on all scenarios and recordings.
func TestARecountGivesTheSame(t *testing.T) {
	for _, tp := range everyTape(t) {
		t.Run(tp.name, func(t *testing.T) {
			t.Parallel()
			c := newRecount()
			r, err := tp.open()
			if err != nil {
				t.Fatal(err)
			}
			for ev, err := range r.All() {
				if err != nil {
					t.Fatal(err)
				}
				c.take(&ev)
			}
			for _, p := range c.pods {
				if since, waits := c.pendingSince[str(p, "metadata", "uid")]; waits {
					c.pending[workload(p)] += c.at - since
				}
			}
			for _, series := range []bool{false, true} {
				a := tp.analyse(t, series)
				paths(t, a)
				c.compare(t, a, options(t, r))
				feed(t, tp, a)
			}
		})
	}
}

func (c *recount) compare(t *testing.T, a *analysis.Analysis, o analysis.Options) {
	t.Helper()
	same := func(what string, got *analysis.Moment, want map[string]time.Duration, uid string) {
		t.Helper()
		at, is := want[uid]
		if is != (got != nil) || is && got.At != at {
			t.Errorf("%s of node %s: got %v, want %v %s", what, uid, got, is, at)
		}
	}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		same("join", n.Joined, c.joined, n.UID)
		same("Ready", n.Ready, c.ready, n.UID)
		same("termination", n.Terminated, c.terminated, n.UID)
	}
	if o.Pool == "" && o.Selector == nil && len(a.Nodes) < len(c.terminated)+len(c.nodes) {
		t.Errorf("%d nodes, want %d", len(a.Nodes), len(c.terminated)+len(c.nodes))
	}
	for _, w := range a.Workloads {
		key := w.Kind + "/" + w.Namespace + "/" + w.Name
		got := fmt.Sprint(w.Replicas, w.LeastAvailable, w.BelowReplicas, w.Evicted, w.Deleted, w.Lost, w.Restarts, w.Updates, w.Pending)
		below := time.Duration(0)
		for level, d := range c.below[key] {
			if level < c.most[key] {
				below += d
			}
		}
		want := fmt.Sprint(c.most[key], c.least[key], below, c.evicted[key], c.deleted[key], c.lost[key], c.restarts[key], c.updates[key], c.pending[key])
		if got != want {
			t.Errorf("%s: replicas, least, below, evicted, deleted, lost, restarts, updates, pending %s, want %s", key, got, want)
		}
	}
	for _, b := range a.Budgets {
		if key := b.Namespace + "/" + b.Name; b.AtZero != c.zero[key] {
			t.Errorf("budget %s at zero for %s, want %s", key, b.AtZero, c.zero[key])
		}
	}
}

// paths checks what holds of each roll by itself.
func paths(t *testing.T, a *analysis.Analysis) {
	t.Helper()
	for _, r := range a.Rolls {
		at := r.Start.At
		sum := time.Duration(0)
		for _, s := range r.Path {
			if s.From.At != at || s.To.At-s.From.At != s.Duration || s.Duration <= 0 {
				t.Errorf("roll of %s: a step from %s to %s in %s, want it from %s", r.Group, s.From.At, s.To.At, s.Duration, at)
			}
			at, sum = s.To.At, sum+s.Duration
		}
		if sum != r.Duration || at != r.End.At {
			t.Errorf("roll of %s: a path of %s to %s, want %s to %s", r.Group, sum, at, r.Duration, r.End.At)
		}
		last := r.Duration
		for _, s := range r.Savings {
			if s.Saves <= 0 || s.Saves > last {
				t.Errorf("roll of %s: %s %s saves %s, want more than nothing and at most %s", r.Group, s.Wait, s.Object, s.Saves, last)
			}
			last = s.Saves
		}
	}
	for _, n := range a.Nodes {
		for _, w := range n.Waits {
			if w.Duration <= 0 || w.Duration > w.To.At-w.From.At || w.To.At > a.Tape.Duration {
				t.Errorf("%s waits for %s %s from %s to %s, %s long", n.Name, w.Kind, w.Object, w.From.At, w.To.At, w.Duration)
			}
		}
		for i := 1; i < len(n.Spans); i++ {
			if n.Spans[i].From != n.Spans[i-1].To {
				t.Errorf("%s: a hole between its spans %v", n.Name, n.Spans)
			}
		}
	}
	for _, f := range a.Findings {
		if f.Text == "" || f.Cost < 0 || len(f.Lines) == 0 || !slices.IsSorted(f.Lines) {
			t.Errorf("finding %+v", f)
		}
	}
}

// feed checks the drains against the tape's feed, whose evidence they go by: each begins with its entry, and ends once no
// evictable pod is left on the node.
func feed(t *testing.T, tp tape, a *analysis.Analysis) {
	t.Helper()
	r, err := tp.open()
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, r).Options
	o.Pods = noderoll.PodScope{}
	f := observe.New(r.Header(), o)
	begun, drained := map[string]time.Duration{}, map[string]time.Duration{}
	on, left := map[string]string{}, map[string]int{} // nodes of evictable pods, and how many they have
	for ev, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type.Object() && ev.Resource == "pods" {
			var p object
			if err := json.Unmarshal(ev.Object, &p); err != nil {
				t.Fatal(err)
			}
			key := ev.Namespace + "/" + ev.Name
			left[on[key]]--
			delete(on, key)
			if ev.Type != timeline.Deleted && evictable(p) {
				on[key] = str(p, "spec", "nodeName")
			}
			left[on[key]]++
		}
		entries, err := f.Apply(ev)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			switch e.Kind {
			case noderoll.EvtDraining:
				begun[e.Node] = e.At
			case noderoll.EvtOnline, noderoll.EvtJoining:
				delete(begun, e.Node)
				delete(drained, e.Node)
			case noderoll.EvtTerminated:
				left[e.Node] = 1 << 20 // nothing of what follows is a drain's
				if at, is := drained[e.Node]; is {
					left[e.Node] = -1 << 20
					drained[e.Node] = at
				}
			}
		}
		for name := range begun {
			if _, is := drained[name]; left[name] > 0 {
				delete(drained, name)
			} else if !is {
				drained[name] = ev.At
			}
		}
	}
	last := map[string]*analysis.Node{}
	for i := range a.Nodes {
		last[a.Nodes[i].Name] = &a.Nodes[i]
	}
	same := func(what, name string, got *analysis.Moment, want map[string]time.Duration) {
		t.Helper()
		if at, is := want[name]; is != (got != nil) || is && got.At != at {
			t.Errorf("the drain of %s %s %v, want %v %s", name, what, got, is, at)
		}
	}
	for name, n := range last {
		same("began", name, n.DrainBegan, begun)
		if n.DrainBegan != nil {
			same("ended", name, n.Drained, drained)
		}
	}
}
