package export_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/nodesim/nodesim/internal/app/export"
	"github.com/nodesim/nodesim/replay/analysis"
)

// The lines of OpenMetrics 1.0, after the ABNF of its specification ("Text Format").
var openMetricsLine = regexp.MustCompile(`^(# (HELP|UNIT) [a-z_]+ .+|# TYPE [a-z_]+ (gauge|histogram)|` +
	`[a-z_]+(\{([a-z_]+="([^"\\\n]|\\[\\n"])*",?)*\})? (\+Inf|[0-9.]+))$`)

// Prometheus' linter has nothing to say, both of its formats read the text, and the figures are the analysis's.
func TestOpenMetricsHoldsTheAnalysis(t *testing.T) {
	for seed := range uint64(20) {
		holdsOpenMetrics(t, made(seed, int(seed)))
	}
}

// Names that are the same text once control characters are gone are still two series: histograms add up, others are numbered.
func TestOpenMetricsOfTwins(t *testing.T) {
	a := made(3, 12)
	for i := range a.Nodes {
		a.Nodes[i].Group = []string{"a\x01", "a\x02"}[i%2]
	}
	twin := a.Workloads[0]
	first, second, third := twin, twin, twin
	first.Name, second.Name, third.Name = "a\x01", "a\x02", "a\x02 (2)"
	a.Workloads = []analysis.Workload{first, second, third}
	b := a.Budgets[0]
	b.Name = "a\x01"
	a.Budgets = []analysis.Budget{b, b}
	a.Budgets[1].Name = "a\x02"
	holdsOpenMetrics(t, a)
}

func holdsOpenMetrics(t *testing.T, a *analysis.Analysis) {
	t.Helper()
	text := write(t, a, export.OpenMetrics, "")
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("promlint: %s: %s", p.Metric, p.Text)
	}
	body, ok := bytes.CutSuffix(text, []byte("\n# EOF\n"))
	if !ok {
		t.Fatal("the text doesn't end in # EOF")
	}
	seen := map[string]bool{}
	for line := range strings.SplitSeq(string(body), "\n") {
		if !openMetricsLine.MatchString(line) {
			t.Errorf("line %q isn't one of OpenMetrics", line)
		}
		if series := line[:strings.LastIndex(line, " ")]; seen[series] {
			t.Errorf("%s is there twice", series)
		} else if !strings.HasPrefix(line, "#") {
			seen[series] = true
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	sum := func(name string, with ...string) (total float64, count uint64) {
		for _, m := range families[name].GetMetric() {
			if !has(m, with) {
				continue
			}
			total += m.GetGauge().GetValue() + m.GetHistogram().GetSampleSum()
			count += m.GetHistogram().GetSampleCount()
			if b := m.GetHistogram().GetBucket(); len(b) > 0 && b[len(b)-1].GetCumulativeCount() != m.GetHistogram().GetSampleCount() {
				t.Errorf("%s: the last bucket isn't the count", name)
			}
		}
		return total, count
	}
	var drains, waits uint64
	var drained, waited time.Duration
	for _, n := range a.Nodes {
		if n.Drain != nil {
			drains++
			drained += *n.Drain
		}
		for _, w := range n.Waits {
			waits++
			waited += w.Duration
		}
	}
	near := func(name string, got float64, want time.Duration) {
		if d := got - want.Seconds(); d > 1e-6 || d < -1e-6 {
			t.Errorf("%s: found %v, want %s", name, got, want)
		}
	}
	s, n := sum("nodesim_node_phase_duration_seconds", "phase", "draining")
	near("drains", s, drained)
	if n != drains {
		t.Errorf("found %d drains, want %d", n, drains)
	}
	s, n = sum("nodesim_node_wait_duration_seconds")
	near("waits", s, waited)
	if n != waits {
		t.Errorf("found %d waits, want %d", n, waits)
	}
	var cost, belowReplicas, atZero time.Duration
	for _, f := range a.Findings {
		cost += f.Cost
	}
	for _, w := range a.Workloads {
		belowReplicas += w.BelowReplicas
	}
	for _, b := range a.Budgets {
		atZero += b.AtZero
	}
	for name, want := range map[string]time.Duration{
		"nodesim_findings_cost_seconds": cost, "nodesim_workload_below_replicas_seconds": belowReplicas,
		"nodesim_budget_at_zero_seconds": atZero, "nodesim_tape_duration_seconds": a.Tape.Duration,
	} {
		got, _ := sum(name)
		near(name, got, want)
	}
	if got, _ := sum("nodesim_findings"); got != float64(len(a.Findings)) {
		t.Errorf("found %v findings, want %d", got, len(a.Findings))
	}
}

func has(m *dto.Metric, with []string) bool {
	if len(with) == 0 {
		return true
	}
	for _, l := range m.GetLabel() {
		if l.GetName() == with[0] && l.GetValue() == with[1] {
			return true
		}
	}
	return false
}
