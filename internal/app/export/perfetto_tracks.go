package export

import (
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// The ranks of the tracks of a tape: what is looked at first is shown first.
const (
	rankTape = iota
	rankFindings
	rankNotes
	rankGroups
	rankUnplaced
	rankBudgets
	rankWorkloads
)

// tape adds the tracks of the whole tape.
func (t *trace) tape(a *analysis.Analysis) {
	id := t.track(0, "tape "+text(a.Tape.Name), "", rankTape, false)
	t.slice(id, "tape", "tape", 0, a.Tape.Duration, []arg{
		{"source", a.Tape.Source}, {"provider", a.Tape.Provider}, {"events", a.Tape.Events}, {"complete", a.Tape.Complete},
	})
	if len(a.Findings) > 0 {
		id := t.track(0, "findings", "", rankFindings, false)
		for _, f := range a.Findings {
			t.instant(id, "finding", string(f.Kind), f.From.At, findingArgs(f))
		}
	}
	if len(a.Tape.Gaps)+len(a.Tape.Marks) > 0 {
		id := t.track(0, "gaps and marks", "", rankNotes, false)
		for _, n := range a.Tape.Gaps {
			t.instant(id, "gap", "gap: "+text(n.Name), n.At, []arg{{"text", n.Text}, {"line", n.Line}})
		}
		for _, n := range a.Tape.Marks {
			t.instant(id, "mark", "mark: "+text(n.Name), n.At, []arg{{"text", n.Text}, {"line", n.Line}})
		}
	}
}

func findingArgs(f analysis.Finding) []arg {
	args := []arg{
		{"text", f.Text}, {"remedy", f.Remedy}, {"object", f.Object}, {"node", f.Node}, {"pods", f.Pods},
		{"cost_seconds", f.Cost}, {"delays", f.Delays}, {"until_seconds", f.To.At},
	}
	var lines []string
	for _, l := range f.Lines {
		lines = append(lines, strconv.Itoa(l))
	}
	return append(args, arg{"lines", lines})
}

// groups adds the tracks of groups, with their rolls, and in them those of their nodes with their pods.
func (t *trace) groups(a *analysis.Analysis) {
	tracks := map[string]uint64{}
	group := func(name string) uint64 {
		id, ok := tracks[name]
		if !ok {
			id = t.track(0, "group "+orElse(name, "(none)"), "group", rankGroups, false)
			tracks[name] = id
		}
		return id
	}
	for i, r := range a.Rolls {
		// In a track of its own: rolls of a group may overlap, and slices of a track may not.
		id := t.track(group(r.Group), "roll "+strconv.Itoa(i+1)+" of "+rolled(r), "roll", 0, false)
		t.slice(id, "roll", "roll: "+string(r.Outcome), r.Start.At, r.End.At, []arg{
			{"replaced", r.Replaced}, {"joined", r.Joined}, {"left", r.Left}, {"from_line", r.Start.Line}, {"to_line", r.End.Line},
		}, func() {
			for _, s := range r.Path {
				t.slice(id, "path", string(s.Phase), s.From.At, s.To.At, []arg{
					{"text", s.Text}, {"node", s.Node}, {"wait", string(s.Wait)}, {"from_line", s.From.Line}, {"to_line", s.To.Line},
				})
			}
		})
	}
	nodes := map[string][]placed{}
	for i, n := range a.Nodes {
		id := t.track(group(n.Group), "node "+text(n.Name), n.UID+"#"+strconv.Itoa(i), 1+i, false)
		nodes[n.Name] = append(nodes[n.Name], placed{n, id})
		t.node(id, n)
	}
	t.pods(a, nodes)
}

// placed is a node with its track.
type placed struct {
	analysis.Node
	track uint64
}

// node adds a node's phases, and its waits in tracks of their own, so many that none overlaps another.
func (t *trace) node(id uint64, n analysis.Node) {
	for i, s := range n.Spans {
		args := []arg{{"from_line", s.From.Line}, {"to_line", s.To.Line}}
		if i == 0 {
			args = append(args, arg{"uid", n.UID}, arg{"role", string(n.Role)}, arg{"image", n.Image}, arg{"zone", n.Zone},
				arg{"instance_type", n.InstanceType}, arg{"claim", n.Claim}, arg{"pods_to_evict", n.PodsToEvict}, arg{"drain_unfinished", n.DrainUnfinished})
		}
		t.slice(id, "phase", string(s.Phase), s.From.At, s.To.At, args)
	}
	var ends []time.Duration // of the last wait of each track
	var tracks []uint64
	for _, w := range n.Waits {
		lane := slices.IndexFunc(ends, func(end time.Duration) bool { return end <= w.From.At })
		if lane < 0 {
			lane = len(ends)
			ends, tracks = append(ends, 0), append(tracks, t.track(id, "waits", strconv.Itoa(lane), 0, false))
		}
		ends[lane] = max(w.From.At, w.To.At)
		t.slice(tracks[lane], "wait", string(w.Kind), w.From.At, w.To.At, []arg{
			{"object", w.Object}, {"phase", string(w.Phase)}, {"pods", w.Pods}, {"more_pods", w.MorePods}, {"reason", w.Reason},
			{"message", w.Message}, {"unfinished", w.Unfinished}, {"from_line", w.From.Line}, {"to_line", w.To.Line},
		})
	}
}

// pods adds the pods, in the tracks of their nodes, and a flow from each pod that left its node to the one that came for it.
func (t *trace) pods(a *analysis.Analysis, nodes map[string][]placed) {
	from, to := map[int]uint64{}, map[int]uint64{}
	for i, m := range moves(a) {
		from[m.from], to[m.to] = uint64(i+1), uint64(i+1)
	}
	var unplaced uint64
	for i, p := range a.Pods {
		parts := stretches(p, a.Tape.Duration)
		since := parts[0].from
		if p.Scheduled != nil {
			since = p.Scheduled.At
		}
		parent := place(nodes[p.Node], since)
		if parent == 0 {
			if unplaced == 0 {
				unplaced = t.track(0, "pods without a node", "", rankUnplaced, false)
			}
			parent = unplaced
		}
		id := t.track(parent, "pod "+text(p.Namespace)+"/"+text(p.Name), p.UID+"#"+strconv.Itoa(i), 1, false)
		for k, s := range parts {
			args := []arg{{"workload", p.Workload}, {"line", s.line}}
			if k == 0 {
				args = append(args, arg{"uid", p.UID}, arg{"evicted", p.Evicted})
			}
			e := event(typeSliceBegin, id, "pod", s.state, args)
			if f := from[i]; f != 0 && k == len(parts)-1 {
				e.fixed64(eventFlows, f)
			}
			if f := to[i]; f != 0 && k == 0 {
				e.fixed64(eventLastFlows, f)
			}
			t.begin(e, id, s.from, s.to)
		}
	}
}

// place is the track of the node on which a pod was from this moment on: of several nodes with its name the last that was there by
// then, or the first.
func place(nodes []placed, at time.Duration) uint64 {
	var id uint64
	for _, n := range nodes {
		if id == 0 || n.Joined != nil && n.Joined.At <= at {
			id = n.track
		}
	}
	return id
}

// counters adds what budgets allowed and how many pods of workloads were available.
func (t *trace) counters(a *analysis.Analysis) {
	if slices.ContainsFunc(a.Budgets, func(b analysis.Budget) bool { return len(b.Allowed) > 0 }) {
		id := t.track(0, "budgets: disruptions allowed", "", rankBudgets, false)
		for i, b := range a.Budgets {
			t.counter(id, text(b.Namespace)+"/"+text(b.Name), i, b.Allowed)
		}
	}
	if slices.ContainsFunc(a.Workloads, func(w analysis.Workload) bool { return len(w.Available) > 0 }) {
		id := t.track(0, "workloads: pods available", "", rankWorkloads, false)
		for i, w := range a.Workloads {
			t.counter(id, text(w.Kind)+" "+text(w.Namespace)+"/"+text(w.Name), i, w.Available)
		}
	}
}
