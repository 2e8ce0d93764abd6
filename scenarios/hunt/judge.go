package hunt

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/version"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// A Failure is something that a case breaks.
type Failure struct {
	// Kind is invariant, policy, test, or simulation where the simulation itself fails; Name is that of the invariant, or of the
	// policy and its rule (POLICY/RULE).
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	// Text is one line: place, object, found, wanted.
	Text string `json:"text"`
}

// Kinds of failures.
const (
	OfInvariant  = "invariant"
	OfPolicy     = "policy"
	OfSimulation = "simulation"
	OfTest       = "test"
)

// Same reports whether two failures are of the same invariant or rule.
func (f Failure) Same(o Failure) bool { return f.Kind == o.Kind && f.Name == o.Name }

// String is the failure in one line.
func (f Failure) String() string {
	if f.Name == "" {
		return f.Kind + ": " + f.Text
	}
	return f.Kind + " " + f.Name + ": " + f.Text
}

// An Outcome is what one case came to.
type Outcome struct {
	Failures []Failure // each invariant and rule once, in the order in which they were found
	// Simulated is the length of the tape.
	Simulated time.Duration
	// Cut says that the roll wasn't over at the file's time limit.
	Cut      bool
	visited  map[string]set
	strategy string
}

// fails returns the failure that is the same as one, if there is one.
func (o *Outcome) fails(as Failure) (Failure, bool) {
	for _, f := range o.Failures {
		if f.Same(as) {
			return f, true
		}
	}
	return Failure{}, false
}

func (o *Outcome) add(f Failure) {
	if _, is := o.fails(f); !is {
		o.Failures = append(o.Failures, f)
	}
}

// A Judge says whether a file's roll goes wrong. It may be used by several goroutines.
type Judge func(ctx context.Context, f *spec.File) (Outcome, error)

// Simulated judges a file by its simulation: by all invariants, and by policies. The error is the context's.
func Simulated(policies []*policy.Policy) Judge {
	return func(ctx context.Context, f *spec.File) (Outcome, error) {
		return judge(ctx, variant.Marked(f), policies)
	}
}

// judged is how far a simulation goes before the context is looked at.
const judged = 10 * time.Minute

// checkers are those that cases before have left.
var checkers = sync.Pool{New: func() any { return invariant.NewChecker(invariant.CheckOptions{}) }}

func judge(ctx context.Context, f *spec.File, policies []*policy.Policy) (o Outcome, err error) {
	file := &scenarios.File{File: *f}
	h := file.Header()
	w := &watching{words: words(&h), visits: newVisits(f), checker: checkers.Get().(*invariant.Checker)}
	w.checker.Reset(invariant.CheckSimulated(f.Start))
	defer checkers.Put(w.checker)
	if f.Roll != nil {
		o.strategy = string(f.Roll.Strategy)
	}
	var tape bytes.Buffer // line by line the one that simulate.Run writes of the file
	if len(policies) > 0 {
		h.Source.Program = version.Program()
		if w.writer, err = timeline.NewWriter(&tape, h); err != nil {
			return o, err
		}
	}
	failed := func(err error) {
		if err != nil {
			o.add(Failure{Kind: OfSimulation, Text: phrase.Escaped(err.Error())})
		}
	}
	sim, err := file.Observe(w.writer != nil, w.take)
	if err != nil {
		failed(err)
		return o, nil
	}
	defer sim.Close()
	for ended := false; !ended && err == nil; {
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		ended, err = sim.Step(judged)
	}
	failed(err)
	w.report(w.checker.End())
	for _, f := range w.failures {
		o.add(f)
	}
	o.Simulated, o.Cut, o.visited = w.at, w.cut, w.visits.visited
	if err == nil && w.writer != nil {
		failed(errors.Join(w.writer.Close(), o.hold(&tape, policies)))
	}
	return o, nil
}

// hold holds a tape against policies.
func (o *Outcome) hold(tape *bytes.Buffer, policies []*policy.Policy) error {
	r, err := timeline.NewReader(tape)
	if err != nil {
		return err
	}
	series := false
	for _, p := range policies {
		series = series || p.NeedsSeries()
	}
	scope, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		return err
	}
	a, err := analysis.Tape(r, analysis.Options{Options: scope, Series: series})
	if err != nil {
		return err
	}
	for _, p := range policies {
		o.broken(p.Check(a))
	}
	return nil
}

// broken notes the rules that are violated.
func (o *Outcome) broken(res policy.Result) {
	for i := range res.Rules {
		if rule := &res.Rules[i]; rule.Failed() {
			o.add(Failure{Kind: OfPolicy, Name: res.Policy + "/" + rule.Rule, Text: rule.Violations[0].String()})
		}
	}
}

// watching follows one simulation.
type watching struct {
	words    map[string]string // the checker's words for the tape's resources
	visits   *visits
	checker  *invariant.Checker
	writer   *timeline.Writer // nil without policies
	at       time.Duration
	cut      bool
	failures []Failure
}

// take is the simulation's sink.
func (w *watching) take(ev timeline.Event, object metav1.Object) error {
	w.at = ev.At
	if ev.Type == timeline.Mark {
		if action, own := variant.Begun(ev.Name); own {
			w.visits.begins(action)
			return nil // the file's tape doesn't have it
		}
		w.cut = w.cut || ev.Name == scenarios.TimeLimitMark
	}
	if w.writer != nil {
		if err := w.writer.WriteLine(ev); err != nil {
			return err
		}
	}
	if ev.Resource == "" {
		return nil
	}
	change := invariant.Change{At: ev.At, Type: invariant.ChangeType(ev.Type), Resource: w.words[ev.Resource], Version: ev.RV, Object: object}
	if n, is := object.(*corev1.Node); is {
		w.visits.node(n, ev.Type == timeline.Deleted)
	}
	w.report(w.checker.Observe(change))
	return nil
}

// words are those by which an invariant.Checker knows resources.
func words(h *timeline.Header) map[string]string {
	all := map[string]string{}
	for _, r := range h.Resources {
		word := "other/" + h.Key(r)
		switch r.Group + "/" + r.Resource {
		case "/nodes":
			word = noderoll.Nodes
		case "/pods":
			word = noderoll.Pods
		case "policy/poddisruptionbudgets":
			word = noderoll.Budgets
		case "/events":
			word = noderoll.Events
		}
		all[h.Key(r)] = word
	}
	return all
}

// mostFailures bounds what is kept of a case: one is enough, but another may be what is looked for.
const mostFailures = 100

func (w *watching) report(found []invariant.Violation) {
	for _, v := range found {
		if len(w.failures) < mostFailures {
			w.failures = append(w.failures, Failure{Kind: OfInvariant, Name: v.Invariant, Text: v.String()})
		}
	}
}
