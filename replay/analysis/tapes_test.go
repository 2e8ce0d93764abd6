package analysis_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

func TestMain(m *testing.M) { golden.Main(m) }

// tape is one that can be read again and again.
type tape struct {
	name string
	open func() (*timeline.Reader, error)
}

// recordings are the tapes of examples/, from a real control plane.
func recordings(t testing.TB) (all []tape) {
	t.Helper()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		all = append(all, tape{"recorded-" + name, func() (*timeline.Reader, error) { return timeline.Open(file) }})
	}
	return all
}

// simulated is the tape of a shipped scenario.
func simulated(name string) tape {
	return tape{name, func() (*timeline.Reader, error) { return scenarios.Open(name) }}
}

// everyTape is all shipped scenarios and all recordings.
func everyTape(t testing.TB) []tape {
	all := recordings(t)
	for _, s := range scenarios.All() {
		all = append(all, simulated(s.Name))
	}
	return all
}

func options(t testing.TB, r *timeline.Reader) analysis.Options {
	t.Helper()
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return analysis.Options{Options: o}
}

func (tp tape) analyse(t testing.TB, series bool) *analysis.Analysis {
	t.Helper()
	r, err := tp.open()
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, r)
	o := options(t, r)
	o.Series = series
	a, err := analysis.Tape(r, o)
	if err != nil {
		t.Fatal(tp.name, err)
	}
	return a
}

func closed(t testing.TB, r *timeline.Reader) {
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func text(t testing.TB, a *analysis.Analysis) string {
	t.Helper()
	var b bytes.Buffer
	if err := a.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every moment of a roll is where the tape has it when the graph is evaluated with the tape's lags.
func TestTheGraphGivesTheTapeBack(t *testing.T) {
	for _, tp := range everyTape(t) {
		t.Run(tp.name, func(t *testing.T) {
			r, err := tp.open()
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, r)
			if _, err := analysis.Evaluated(r, options(t, r)); err != nil {
				t.Error(err)
			}
		})
	}
}
