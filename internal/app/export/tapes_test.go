package export_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/app/export"
	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

func TestMain(m *testing.M) { golden.Main(m) }

const examples = "../../../examples/"

func analyse(t *testing.T, r *timeline.Reader, err error) *analysis.Analysis {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.Tape(r, analysis.Options{Options: o, Series: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return a
}

func holds(t *testing.T, a *analysis.Analysis) {
	t.Helper()
	holdsPerfetto(t, a)
	holdsOTLP(t, a)
	holdsOpenMetrics(t, a)
	holdsTables(t, a)
}

// Every format holds what the analysis of each recorded tape holds.
func TestRecordings(t *testing.T) {
	tapes, err := filepath.Glob(examples + "*.yaml")
	if err != nil || len(tapes) == 0 {
		t.Fatal(tapes, err)
	}
	for _, tape := range tapes {
		t.Run(strings.TrimSuffix(filepath.Base(tape), ".yaml"), func(t *testing.T) {
			r, err := timeline.Open(tape)
			holds(t, analyse(t, r, err))
		})
	}
}

// And of what is left of it where the recorder was cut off, at any line.
func TestTornRecordings(t *testing.T) {
	whole, err := os.ReadFile(examples + "surge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	first := slices.IndexFunc(lines, func(l []byte) bool { return bytes.HasPrefix(l, []byte("--- {")) })
	for n := first + 1; n < len(lines); n += 9 {
		r, err := timeline.NewReader(bytes.NewReader(bytes.Join(lines[:n], nil)))
		if err != nil {
			t.Fatal(err)
		}
		o, err := observe.OptionsFor(r.Header(), "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		a, err := analysis.Tape(r, analysis.Options{Options: o, Series: true})
		if unmatched := (*analysis.UnmatchedError)(nil); errors.As(err, &unmatched) {
			continue // no node yet
		}
		if err != nil {
			t.Fatalf("the first %d lines: %v", n, err)
		}
		holds(t, a)
	}
}

// And of each scenario.
func TestScenarios(t *testing.T) {
	for _, s := range scenarios.All() {
		t.Run(s.Name, func(t *testing.T) {
			src, err := simulate.Resolve(s, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := src.Open()
			holds(t, analyse(t, r, err))
		})
	}
}

// What the formats look like, of the roll that docs/export.md shows.
func TestStuckDrain(t *testing.T) {
	r, err := timeline.Open(examples + "stuck-drain.yaml")
	a := analyse(t, r, err)
	golden.Assert(t, "stuck-drain.perfetto", describe(t, a))
	golden.Assert(t, "stuck-drain.otlp.jsonl", write(t, a, export.OTLP, ""))
	golden.Assert(t, "stuck-drain.openmetrics", write(t, a, export.OpenMetrics, ""))
	for _, rows := range []export.Rows{export.Nodes, export.Pods, export.Waits} {
		golden.Assert(t, "stuck-drain."+string(rows)+".csv", write(t, a, export.CSV, rows))
	}
	var table strings.Builder
	for _, row := range readParquet(t, write(t, a, export.Parquet, export.Nodes)) {
		fmt.Fprintf(&table, "%s\n", strings.Join(row, " | "))
	}
	golden.Assert(t, "stuck-drain.nodes.parquet", table.String())
}

// describe is a trace as text: each track with its slices, instants and the number of its values, below its parent.
func describe(t *testing.T, a *analysis.Analysis) string {
	tr := readPerfetto(t, write(t, a, export.Perfetto, ""))
	byTrack := map[uint64][]string{}
	stamp := func(ns uint64) string { return time.Duration(ns - uint64(a.Tape.Start.UnixNano())).String() }
	args := func(all map[string]string) string {
		var out []string
		for k, v := range all {
			out = append(out, k+"="+v)
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	for _, s := range tr.slices(t) {
		line := fmt.Sprintf("%s %s to %s: %s", s.name, stamp(s.at), stamp(s.end), args(s.args))
		if len(s.flows)+len(s.terminatedFlows) > 0 {
			line += fmt.Sprintf(" flows %v ends %v", s.flows, s.terminatedFlows)
		}
		byTrack[s.track] = append(byTrack[s.track], line)
	}
	for _, e := range tr.events {
		switch e.kind {
		case 3:
			byTrack[e.track] = append(byTrack[e.track], fmt.Sprintf("%s at %s: %s", e.name, stamp(e.at), args(e.args)))
		case 4:
			byTrack[e.track] = append(byTrack[e.track], fmt.Sprintf("%d from %s", e.counter, stamp(e.at)))
		}
	}
	var b strings.Builder
	var below func(parent uint64, indent string)
	below = func(parent uint64, indent string) {
		for _, id := range tr.order {
			if tr.tracks[id].parent != parent {
				continue
			}
			fmt.Fprintf(&b, "%s%s\n", indent, tr.tracks[id].name)
			for _, line := range byTrack[id] {
				fmt.Fprintf(&b, "%s  - %s\n", indent, line)
			}
			below(id, indent+"  ")
		}
	}
	below(0, "")
	return b.String()
}
