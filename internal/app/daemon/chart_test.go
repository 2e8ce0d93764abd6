package daemon

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	recorder "github.com/nodesim/nodesim/recorder/daemon"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/recorder/store"
)

// chart is the folder of the Helm chart.
const chart = "../../../packaging/helm/nodesim"

var metricName = regexp.MustCompile(`nodesim_recorder_\w+`)

// written are the metrics of a recorder in which everything has a value, each with its label, "" where it has none.
func written() map[string]string {
	s := recorder.Stats{
		Watches: map[string]bool{"nodes": true}, Open: []trigger.Roll{{Group: "workers"}}, Drains: map[string]time.Duration{"workers": time.Second},
	}
	all := map[string]string{}
	for _, f := range families(s, store.UploadState{}, true, time.Unix(1000, 0)) {
		all[f.GetName()] = ""
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				all[f.GetName()] = l.GetName()
			}
		}
	}
	return all
}

// The dashboard, the alerts and their tests ask for metrics that the recorder writes.
func TestChartAsksForMetricsThatAreWritten(t *testing.T) {
	dashboard, alerts := filepath.Join(chart, "files", "dashboard.json"), filepath.Join(chart, "templates", "monitoring.yaml")
	templates, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil || !slices.Contains(templates, alerts) {
		t.Fatalf("found the templates %q, %v, want %s among them", templates, err, alerts)
	}
	have := written()
	texts := map[string]string{}
	for _, file := range append(templates, dashboard, "../../../test/release/alerts.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
		for _, name := range metricName.FindAllString(string(text), -1) {
			if _, ok := have[name]; !ok {
				t.Errorf("%s: found the metric %s, want one of %s", file, name, strings.Join(slices.Sorted(maps.Keys(have)), ", "))
			}
		}
	}
	asked := 0
	wantMetric := func(file, expr string) {
		if asked++; !metricName.MatchString(expr) {
			t.Errorf("%s: found the expression %q, want a metric of the recorder in it", file, expr)
		}
	}
	for line := range strings.Lines(texts[alerts]) {
		if expr, ok := strings.CutPrefix(strings.TrimSpace(line), "expr:"); ok {
			wantMetric(alerts, expr)
		}
	}
	if n := strings.Count(texts[alerts], "- alert: "); n == 0 || n != asked {
		t.Errorf("%s: found %d alerts and %d expressions, want one of each alert", alerts, n, asked)
	}
	var board struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(texts[dashboard]), &board); err != nil {
		t.Fatalf("%s: %v", dashboard, err)
	}
	if board.Title == "" || len(board.Panels) == 0 {
		t.Errorf("%s: found the title %q and %d panels, want some", dashboard, board.Title, len(board.Panels))
	}
	for _, p := range board.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("%s: panel %q: found nothing that it asks for", dashboard, p.Title)
		}
		for _, target := range p.Targets {
			wantMetric(dashboard, target.Expr)
		}
	}
}

// docs/daemon.md lists the metrics that there are, with their labels.
func TestTheManualListsTheMetrics(t *testing.T) {
	text, err := os.ReadFile("../../../docs/daemon.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, found := strings.Cut(string(text), "| metric | type | what it is |\n|---|---|---|\n")
	rows, _, ended := strings.Cut(rows, "\n\n")
	if !found || !ended {
		t.Fatal("docs/daemon.md: found no table of metrics")
	}
	word := regexp.MustCompile("`([^`]+)`")
	var listed []string
	for row := range strings.Lines(rows) {
		names, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range word.FindAllStringSubmatch(names, -1) {
			listed = append(listed, m[1])
		}
	}
	var want []string
	for name, label := range written() {
		if name = strings.TrimPrefix(name, "nodesim_recorder_"); label != "" {
			name += "{" + label + "}"
		}
		want = append(want, name)
	}
	slices.Sort(listed)
	slices.Sort(want)
	if !slices.Equal(listed, want) {
		t.Errorf("docs/daemon.md: found the metrics\n%s\nwant\n%s", strings.Join(listed, "\n"), strings.Join(want, "\n"))
	}
}
