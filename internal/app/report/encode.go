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
//
// Of two tapes that are compared, each list has what is A's first, then what is B's; the feed is in the order of time.
type document struct {
	Strings   []string    `json:"strings"`
	Tapes     []tape      `json:"tapes"`
	Rolls     []roll      `json:"rolls"`
	Nodes     nodes       `json:"nodes"`
	Pods      pods        `json:"pods"`
	Workloads []workload  `json:"workloads"`
	Budgets   []budget    `json:"budgets"`
	Findings  []finding   `json:"findings"`
	Feed      entries     `json:"feed"`
	Compared  *comparison `json:"compared,omitempty"`
}

type tape struct {
	By       int64  `json:"by"`    // how much later on the page its moments are than on the tape
	First    places `json:"first"` // where in the lists its part begins
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

type places struct {
	Roll     int `json:"roll"`
	Node     int `json:"node"`
	Pod      int `json:"pod"`
	Workload int `json:"workload"`
	Budget   int `json:"budget"`
	Finding  int `json:"finding"`
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

func (m *moments) add(p *analysis.Moment, by time.Duration) {
	at, line := int64(-1), 0
	if p != nil {
		at, line = (p.At + by).Milliseconds(), p.Line
	}
	m.At, m.Line = append(m.At, at), append(m.Line, line)
}

type levels struct {
	moments
	Value []int `json:"value"`
}

func levelsOf(of []analysis.Level, by time.Duration) levels {
	l := levels{moments{make([]int64, 0, len(of)), make([]int, 0, len(of))}, make([]int, 0, len(of))}
	for _, v := range of {
		l.add(&v.Moment, by)
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
	Default []int `json:"default"`        // 1: a feed shows it without being asked for all
	Side    []int `json:"side,omitempty"` // of two tapes, the entry's
}

// encode is the data of one page as JSON. encoding/json writes <, > and & as escapes, so that no string ends the element that it
// is in.
func encode(a *analysis.Analysis, feed []Line) ([]byte, error) {
	return newDocument(Side{Analysis: a, Feed: feed}).json()
}

// builder makes a document of one tape or two.
type builder struct {
	document
	interned
}

func newDocument(sides ...Side) *builder {
	b := &builder{
		document: document{Rolls: []roll{}, Workloads: []workload{}, Budgets: []budget{}, Findings: []finding{}},
		interned: interned{known: map[string]int{"": 0}, all: []string{""}},
	}
	for _, s := range sides {
		b.add(s)
	}
	b.Feed = feedOf(sides, &b.interned)
	return b
}

func (b *builder) json() ([]byte, error) {
	b.Strings = b.all
	return json.Marshal(b.document)
}

// add appends a tape to the lists.
func (b *builder) add(s Side) {
	a := s.Analysis
	b.Tapes = append(b.Tapes, tape{
		By:    s.by.Milliseconds(),
		First: places{len(b.Rolls), len(b.Nodes.Name), len(b.Pods.Name), len(b.Workloads), len(b.Budgets), len(b.Findings)},
		Name:  clean(a.Tape.Name), Start: start(a.Tape.Start), Source: clean(a.Tape.Source),
		Provider: clean(a.Tape.Provider), End: end(s), Events: a.Tape.Events, Complete: a.Tape.Complete,
		Gaps: notes(a.Tape.Gaps, s.by), Marks: notes(a.Tape.Marks, s.by),
	})
	b.Rolls = append(b.Rolls, rolls(a.Rolls, s.by)...)
	b.Nodes.add(a.Nodes, &b.interned, s.by)
	b.Pods.add(a.Pods, &b.interned, s.by)
	b.Workloads = append(b.Workloads, workloads(a.Workloads, s.by)...)
	b.Budgets = append(b.Budgets, budgets(a.Budgets, s.by)...)
	b.Findings = append(b.Findings, findings(a.Findings, s.by)...)
}

// start is when the tape began, or nothing where the tape doesn't say.
func start(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// end is the last moment of all: the duration, which cutting to milliseconds must not put before something else.
func end(s Side) int64 { return (s.last() + s.by).Milliseconds() }

func (s *Side) last() time.Duration {
	last := s.Analysis.Tape.Duration
	if n := len(s.Feed); n > 0 {
		last = max(last, s.Feed[n-1].At)
	}
	return last
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

func notes(of []analysis.Note, by time.Duration) []note {
	out := make([]note, 0, len(of))
	for _, n := range of {
		out = append(out, note{(n.At + by).Milliseconds(), n.Line, clean(n.Name), clean(n.Text)})
	}
	return out
}

func rolls(of []analysis.Roll, by time.Duration) []roll {
	out := make([]roll, 0, len(of))
	for _, r := range of {
		o := roll{
			Group: clean(cmp.Or(r.Group, r.Pods)), From: (r.Start.At + by).Milliseconds(), To: (r.End.At + by).Milliseconds(), Line: r.Start.Line,
			Outcome: string(r.Outcome), Replaced: r.Replaced, Joined: r.Joined, Left: r.Left,
			Path: make([]step, 0, len(r.Path)), Savings: make([]saving, 0, len(r.Savings)),
		}
		for _, s := range r.Path {
			o.Path = append(o.Path, step{
				(s.From.At + by).Milliseconds(), (s.To.At + by).Milliseconds(), s.From.Line, clean(s.Node), string(s.Phase), string(s.Wait), clean(s.Text),
			})
		}
		for _, s := range r.Savings {
			o.Savings = append(o.Savings, saving{string(s.Wait), clean(s.Object), s.Saves.Milliseconds(), clean(s.Text)})
		}
		out = append(out, o)
	}
	return out
}

func workloads(of []analysis.Workload, by time.Duration) []workload {
	out := make([]workload, 0, len(of))
	for _, w := range of {
		out = append(out, workload{
			clean(strings.Join([]string{w.Kind, w.Namespace, w.Name}, "/")), w.Replicas, w.LeastAvailable, w.Wanted,
			w.BelowWanted.Milliseconds(), w.BelowReplicas.Milliseconds(), w.Evicted, w.Refused.Milliseconds(), w.Refusals, w.Deleted,
			w.Lost, w.Restarts, w.Pending.Milliseconds(), w.LongestWait.Milliseconds(), clean(w.PendingPod), clean(w.PendingWhy),
			levelsOf(w.Available, by),
		})
	}
	return out
}

func budgets(of []analysis.Budget, by time.Duration) []budget {
	out := make([]budget, 0, len(of))
	for _, b := range of {
		out = append(out, budget{
			clean(b.Namespace + "/" + b.Name), b.AtZero.Milliseconds(), b.Held.Milliseconds(), cleanAll(b.HeldNodes),
			cleanAll(b.Pods), b.MorePods, b.Refusals, levelsOf(b.Allowed, by), levelsOf(b.Healthy, by), levelsOf(b.Desired, by),
		})
	}
	return out
}

func findings(of []analysis.Finding, by time.Duration) []finding {
	out := make([]finding, 0, len(of))
	for _, f := range of {
		out = append(out, finding{
			string(f.Kind), f.Cost.Milliseconds(), f.Delays, clean(f.Object), clean(f.Node), cleanAll(f.Pods),
			(f.From.At + by).Milliseconds(), (f.To.At + by).Milliseconds(), clean(f.Text), clean(f.Remedy), append([]int{}, f.Lines...),
		})
	}
	return out
}
