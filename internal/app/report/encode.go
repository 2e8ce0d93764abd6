package report

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/analysis"
)

// document is the data of a page, which web/data.js reads. Times are milliseconds since the tape's start, cut as in the feed.
// A string is its place in Strings, 0 if it is empty, so that a name that a thousand waits have is there once. What a tape
// has many of is kept as columns of one length.
type document struct {
	Strings   []string   `json:"strings"`
	Tape      tape       `json:"tape"`
	Rolls     []roll     `json:"rolls"`
	Nodes     nodes      `json:"nodes"`
	Pods      pods       `json:"pods"`
	Workloads []workload `json:"workloads"`
	Budgets   []budget   `json:"budgets"`
	Findings  []finding  `json:"findings"`
	Feed      entries    `json:"feed"`
}

type tape struct {
	Name     string `json:"name"`
	Start    string `json:"start"`
	Source   string `json:"source"`
	Provider string `json:"provider"`
	End      int64  `json:"end"`
	Events   int    `json:"events"`
	Complete bool   `json:"complete"`
	Gaps     []note `json:"gaps"`
	Marks    []note `json:"marks"`
}

type note struct {
	At   int64  `json:"at"`
	Line int    `json:"line"`
	Name string `json:"name"`
	Text string `json:"text"`
}

type roll struct {
	Group    string   `json:"group"` // or the scope of a roll of pods
	From     int64    `json:"from"`
	To       int64    `json:"to"`
	Line     int      `json:"line"`
	Outcome  string   `json:"outcome"`
	Replaced int      `json:"replaced"`
	Joined   int      `json:"joined"`
	Left     int      `json:"left"`
	Path     []step   `json:"path"`
	Savings  []saving `json:"savings"`
}

type step struct {
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Line  int    `json:"line"`
	Node  string `json:"node"`
	Phase string `json:"phase"`
	Wait  string `json:"wait"`
	Text  string `json:"text"`
}

type saving struct {
	Wait   string `json:"wait"`
	Object string `json:"object"`
	Saves  int64  `json:"saves"`
	Text   string `json:"text"`
}

type finding struct {
	Kind   string   `json:"kind"`
	Cost   int64    `json:"cost"`
	Delays bool     `json:"delays"`
	Object string   `json:"object"`
	Node   string   `json:"node"`
	Pods   []string `json:"pods"`
	From   int64    `json:"from"`
	To     int64    `json:"to"`
	Text   string   `json:"text"`
	Remedy string   `json:"remedy"`
	Lines  []int    `json:"lines"`
}

type workload struct {
	Name           string `json:"name"` // Kind/namespace/name
	Replicas       int    `json:"replicas"`
	LeastAvailable int    `json:"leastAvailable"`
	Wanted         int    `json:"wanted"`
	BelowWanted    int64  `json:"belowWanted"`
	BelowReplicas  int64  `json:"belowReplicas"`
	Evicted        int    `json:"evicted"`
	Refused        int64  `json:"refused"`
	Refusals       int    `json:"refusals"`
	Deleted        int    `json:"deleted"`
	Lost           int    `json:"lost"`
	Restarts       int    `json:"restarts"`
	Pending        int64  `json:"pending"`
	LongestWait    int64  `json:"longestWait"`
	PendingPod     string `json:"pendingPod"`
	PendingWhy     string `json:"pendingWhy"`
	Available      levels `json:"available"`
}

type budget struct {
	Name      string   `json:"name"` // namespace/name
	AtZero    int64    `json:"atZero"`
	Held      int64    `json:"held"`
	HeldNodes []string `json:"heldNodes"`
	Pods      []string `json:"pods"`
	MorePods  int      `json:"morePods"`
	Refusals  int      `json:"refusals"`
	Allowed   levels   `json:"allowed"`
	Healthy   levels   `json:"healthy"`
	Desired   levels   `json:"desired"`
}

// moments are columns of moments; one that the tape doesn't have is at -1.
type moments struct {
	At   []int64 `json:"at"`
	Line []int   `json:"line"`
}

func (m *moments) add(p *analysis.Moment) {
	if p == nil {
		p = &analysis.Moment{At: -time.Millisecond}
	}
	m.At, m.Line = append(m.At, p.At.Milliseconds()), append(m.Line, p.Line)
}

type levels struct {
	moments
	Value []int `json:"value"`
}

func levelsOf(of []analysis.Level) levels {
	l := levels{moments{make([]int64, 0, len(of)), make([]int, 0, len(of))}, make([]int, 0, len(of))}
	for _, v := range of {
		l.add(&v.Moment)
		l.Value = append(l.Value, v.Value)
	}
	return l
}

type entries struct {
	moments
	Kind    []int `json:"kind"`
	Node    []int `json:"node"`
	Object  []int `json:"object"`
	Reason  []int `json:"reason"`
	Message []int `json:"message"`
	Default []int `json:"default"` // 1: a feed shows it without being asked for all
}

// encode is the data as JSON. encoding/json writes <, > and & as escapes, so that no string ends the element that it is in.
func encode(a *analysis.Analysis, feed []Line) ([]byte, error) {
	t := &interned{known: map[string]int{"": 0}, all: []string{""}}
	d := document{
		Tape: tape{
			Name: clean(a.Tape.Name), Start: start(a.Tape.Start), Source: clean(a.Tape.Source),
			Provider: clean(a.Tape.Provider), End: end(a, feed), Events: a.Tape.Events, Complete: a.Tape.Complete,
			Gaps: notes(a.Tape.Gaps), Marks: notes(a.Tape.Marks),
		},
		Rolls: rolls(a.Rolls), Nodes: nodesOf(a.Nodes, t), Pods: podsOf(a.Pods, t),
		Workloads: workloads(a.Workloads), Budgets: budgets(a.Budgets), Findings: findings(a.Findings), Feed: feedOf(feed, t),
	}
	d.Strings = t.all
	return json.Marshal(d)
}

// start is when the tape began, or nothing where the tape doesn't say.
func start(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// end is the last moment of all: the duration, which cutting to milliseconds must not put before something else.
func end(a *analysis.Analysis, feed []Line) int64 {
	last := a.Tape.Duration
	if len(feed) > 0 {
		last = max(last, feed[len(feed)-1].At)
	}
	return last.Milliseconds()
}

// interned gives strings numbers.
type interned struct {
	known map[string]int
	all   []string
}

func (t *interned) id(s string) int {
	if n, ok := t.known[s]; ok {
		return n
	}
	n := len(t.all)
	t.known[s] = n
	t.all = append(t.all, clean(s))
	return n
}

// clean makes a string of a tape a line without characters that act on what stands beside it.
func clean(s string) string { return noderoll.OneLine(s) }

func cleanAll(all []string) []string {
	out := make([]string, 0, len(all))
	for _, s := range all {
		out = append(out, clean(s))
	}
	return out
}

func notes(of []analysis.Note) []note {
	out := make([]note, 0, len(of))
	for _, n := range of {
		out = append(out, note{n.At.Milliseconds(), n.Line, clean(n.Name), clean(n.Text)})
	}
	return out
}

func rolls(of []analysis.Roll) []roll {
	out := make([]roll, 0, len(of))
	for _, r := range of {
		o := roll{
			Group: clean(cmp.Or(r.Group, r.Pods)), From: r.Start.At.Milliseconds(), To: r.End.At.Milliseconds(), Line: r.Start.Line,
			Outcome: string(r.Outcome), Replaced: r.Replaced, Joined: r.Joined, Left: r.Left,
			Path: make([]step, 0, len(r.Path)), Savings: make([]saving, 0, len(r.Savings)),
		}
		for _, s := range r.Path {
			o.Path = append(o.Path, step{
				s.From.At.Milliseconds(), s.To.At.Milliseconds(), s.From.Line, clean(s.Node), string(s.Phase), string(s.Wait), clean(s.Text),
			})
		}
		for _, s := range r.Savings {
			o.Savings = append(o.Savings, saving{string(s.Wait), clean(s.Object), s.Saves.Milliseconds(), clean(s.Text)})
		}
		out = append(out, o)
	}
	return out
}

func workloads(of []analysis.Workload) []workload {
	out := make([]workload, 0, len(of))
	for _, w := range of {
		out = append(out, workload{
			clean(strings.Join([]string{w.Kind, w.Namespace, w.Name}, "/")), w.Replicas, w.LeastAvailable, w.Wanted,
			w.BelowWanted.Milliseconds(), w.BelowReplicas.Milliseconds(), w.Evicted, w.Refused.Milliseconds(), w.Refusals, w.Deleted,
			w.Lost, w.Restarts, w.Pending.Milliseconds(), w.LongestWait.Milliseconds(), clean(w.PendingPod), clean(w.PendingWhy),
			levelsOf(w.Available),
		})
	}
	return out
}

func budgets(of []analysis.Budget) []budget {
	out := make([]budget, 0, len(of))
	for _, b := range of {
		out = append(out, budget{
			clean(b.Namespace + "/" + b.Name), b.AtZero.Milliseconds(), b.Held.Milliseconds(), cleanAll(b.HeldNodes),
			cleanAll(b.Pods), b.MorePods, b.Refusals, levelsOf(b.Allowed), levelsOf(b.Healthy), levelsOf(b.Desired),
		})
	}
	return out
}

func findings(of []analysis.Finding) []finding {
	out := make([]finding, 0, len(of))
	for _, f := range of {
		out = append(out, finding{
			string(f.Kind), f.Cost.Milliseconds(), f.Delays, clean(f.Object), clean(f.Node), cleanAll(f.Pods),
			f.From.At.Milliseconds(), f.To.At.Milliseconds(), clean(f.Text), clean(f.Remedy), append([]int{}, f.Lines...),
		})
	}
	return out
}

func feedOf(feed []Line, t *interned) entries {
	out := entries{
		moments: moments{[]int64{}, []int{}},
		Kind:    []int{}, Node: []int{}, Object: []int{}, Reason: []int{}, Message: []int{}, Default: []int{},
	}
	for _, e := range feed {
		out.add(&analysis.Moment{At: e.At, Line: e.Line})
		out.Kind, out.Node = append(out.Kind, t.id(string(e.Kind))), append(out.Node, t.id(e.Node))
		out.Object, out.Reason = append(out.Object, t.id(e.Object)), append(out.Reason, t.id(e.Reason))
		out.Message = append(out.Message, t.id(e.Message))
		shown := 0
		if e.Kind.Default() {
			shown = 1
		}
		out.Default = append(out.Default, shown)
	}
	return out
}
