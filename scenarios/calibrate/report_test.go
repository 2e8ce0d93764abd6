package calibrate_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/scenarios/calibrate"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

func TestMain(m *testing.M) { golden.Main(m) }

// recordings are the four tapes below examples, recorded where kwok played the kubelets: nodes are ready after three seconds, and a
// script cordons the next one two seconds later.
func recordings(t *testing.T) *calibrate.Result {
	t.Helper()
	var c calibrate.Calibration
	for _, name := range []string{"surge", "spot-vanish", "stuck-drain", "stuck-drain-force"} {
		r, err := timeline.Open(filepath.Join("..", "..", "examples", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		read(t, &c, name+".yaml", r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	return c.Result()
}

func TestText(t *testing.T) {
	var c calibrate.Calibration
	read(t, &c, "karpenter.yaml", simulated(t, scenarioOf("karpenter", "karpenter-drift"), "", 1))
	for name, res := range map[string]*calibrate.Result{"recordings": recordings(t), "karpenter": c.Result()} {
		var b strings.Builder
		if err := res.Text(&b); err != nil {
			t.Fatal(err)
		}
		golden.Assert(t, name, b.String())
	}
}

// A file says what was measured, and is read again.
func TestFileIsReadAgain(t *testing.T) {
	res := recordings(t)
	file, err := res.File()
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, "recordings-file", string(file))
	m, err := spec.ParseTimings("timings.yaml", file)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Timings) != len(res.Measured) {
		t.Errorf("the file has %d timings, want %d", len(m.Timings), len(res.Measured))
	}
	for _, want := range res.Measured {
		got, _ := m.Timings.Get(want.Name)
		if got.Median != want.Takes.Median || got.P95 != want.Takes.P95 || m.Samples[want.Name] != want.Samples {
			t.Errorf("%s is %s, %s of %d samples, want %s of %d", want.Name, got.Median, got.P95, m.Samples[want.Name], want.Takes, want.Samples)
		}
	}
}

func TestJSON(t *testing.T) {
	var got struct {
		Tapes    []struct{ Name, Duration string }
		Measured []struct {
			Name         string
			Samples      int
			Found, Takes struct{ Median, P95 string }
			Tapes        []string
			Apart        []string
			Estimate     struct{ Median string }
			From, Until  string
		}
		Estimates []struct{ Name, Takes, Why string }
		Others    int
	}
	if err := json.Unmarshal(recordings(t).JSON(), &got); err != nil {
		t.Fatal(err)
	}
	first := got.Measured[0]
	if len(got.Tapes) != 4 || got.Tapes[0].Duration != "55.419138s" || first.Name != "becomeReady" || first.Samples != 6 || len(first.Tapes) != 3 || first.Estimate.Median != "12s" {
		t.Errorf("found %+v", got)
	}
	if all := len(got.Measured) + len(got.Estimates) + got.Others; all != 59 {
		t.Errorf("%d timings in all, want the 59 of docs/scenarios.md", all)
	}
}
