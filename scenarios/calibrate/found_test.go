package calibrate_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/calibrate"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// truth are the times that the tapes below are made with. None is that of a provider.
const truth = `apiVersion: nodesim.dev/v1
kind: Timings
timings:
  boot: {median: 90s, p95: 150s}
  terminate: {median: 100s, p95: 160s}
  register: {median: 8s, p95: 13s}
  cloudInitialize: {median: 3s, p95: 6s}
  becomeReady: {median: 50s, p95: 90s}
  sandbox: {median: 1500ms, p95: 4s}
  imagePull: {median: 9s, p95: 25s}
  containerStart: {median: 900ms, p95: 2s}
  containerReady: {median: 8s, p95: 20s}
  killDelay: {median: 2s, p95: 5s}
  appStop: {median: 4s, p95: 10s}
  finalDelete: {median: 3s, p95: 6s}
  controllerReact: {median: 1500ms, p95: 3s}
  conditionTaint: {median: 80ms, p95: 200ms}
  rollerPoll: {median: 6s, p95: 9s}
`

// scenarioOf is a roll of many nodes and pods.
func scenarioOf(provider, strategy string) string {
	return fmt.Sprintf(`apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: truth, title: a roll of many nodes}
timeLimit: 24h
settle: 5m
cluster: {provider: %s, kubernetesVersion: "1.33"}
groups: [{name: workers, nodes: 24}]
workloads: [{name: web, replicas: 96, requests: {cpu: 100m, memory: 64Mi}}]
roll: {strategy: %s}
`, provider, strategy)
}

// simulated opens a scenario's tape, with the times of a file or, where that is "", its own.
func simulated(t *testing.T, text, timings string, seed uint64) *timeline.Reader {
	t.Helper()
	doc, err := scenarios.Parse("truth.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	file, err := doc.Resolve(nil, &seed)
	if err != nil {
		t.Fatal(err)
	}
	if timings != "" {
		file = file.Calibrated(parsed(t, timings))
	}
	r, err := file.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func parsed(t *testing.T, timings string) *spec.Measured {
	t.Helper()
	m, err := spec.ParseTimings("truth.yaml", []byte(timings))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func read(t *testing.T, c *calibrate.Calibration, name string, r *timeline.Reader) {
	t.Helper()
	if err := c.Read(name, r); err != nil {
		t.Fatal(err)
	}
}

// What a tape was made with is found on it again, as exactly as the samples allow: four standard errors of the quantile of a
// lognormal distribution, and a tenth for the ways of status and Events, whose
// medians alone are taken off.
func TestTruthIsFoundAgain(t *testing.T) {
	measured := parsed(t, truth)
	for _, c := range []struct {
		provider, strategy string
		want               string // besides those that every provider shows
	}{
		{"karpenter", "karpenter-drift", "boot"},
		{"capi", "capi", "boot terminate cloudInitialize conditionTaint rollerPoll"},
		{"gke", "gke-surge", "conditionTaint"},
		{"aks", "aks-reimage", "cloudInitialize conditionTaint"},
		{"eks", "eks-default", "cloudInitialize conditionTaint"},
		{"kops", "kops", "cloudInitialize conditionTaint"},
	} {
		t.Run(c.provider, func(t *testing.T) {
			var cal calibrate.Calibration
			for seed := range uint64(6) {
				read(t, &cal, c.provider, simulated(t, scenarioOf(c.provider, c.strategy), truth, seed))
			}
			found := map[string]calibrate.Measured{}
			for _, m := range cal.Result().Measured {
				found[m.Name] = m
			}
			for name := range strings.FieldsSeq(c.want + " register becomeReady sandbox imagePull containerStart containerReady killDelay appStop finalDelete controllerReact") {
				dist, _ := measured.Timings.Get(name)
				agrees(t, found[name], name, dist)
			}
		})
	}
}

// The standard error of a quantile of n samples of a lognormal distribution, in its spreads: √(q(1-q)/n) ÷ the normal
// density at the quantile.
const (
	ofMedian = 1.2533
	ofP95    = 2.1132
	p95      = 1.6449 // of the normal distribution
	// ofMachines is the spread of the speed of machines.
	ofMachines = 0.085
)

func agrees(t *testing.T, m calibrate.Measured, name string, want spec.Dist) {
	t.Helper()
	if m.Samples < 20 {
		t.Errorf("%s: %d samples, want 20 at least", name, m.Samples)
		return
	}
	spread := math.Hypot(math.Log(float64(want.P95)/float64(want.Median))/p95, ofMachines)
	for _, q := range []struct {
		name      string
		got, want time.Duration
		errors    float64
	}{{"median", m.Takes.Median, want.Median, ofMedian}, {"p95", m.Takes.P95, want.P95, ofP95}} {
		most := 4*q.errors*spread/math.Sqrt(float64(m.Samples)) + 0.1
		if off := math.Abs(math.Log(float64(q.got) / float64(q.want))); off > most {
			t.Errorf("%s: %s %s of %d samples, want %s: off by %.0f %%, want %.0f %% at most", name, q.name, q.got, m.Samples, q.want, 100*off, 100*most)
		}
	}
}

// A tape without a roll has nothing to measure, and one of another provider is refused.
func TestTapesOfOneProvider(t *testing.T) {
	var c calibrate.Calibration
	quiet := "apiVersion: nodesim.dev/v1\nkind: Scenario\nmetadata: {name: quiet, title: nothing}\ntimeLimit: 1m\ncluster: {provider: %s}\ngroups: [{name: workers, nodes: 3}]\n"
	read(t, &c, "one.yaml", simulated(t, fmt.Sprintf(quiet, "eks"), "", 1))
	if _, err := c.Result().File(); !errors.Is(err, calibrate.ErrNothing) {
		t.Errorf("the file of a tape without a roll: %v, want %v", err, calibrate.ErrNothing)
	}
	err := c.Read("two.yaml", simulated(t, fmt.Sprintf(quiet, "gke"), "", 1))
	want := `tape two.yaml: found the provider "gke", and "eks" in one.yaml: want tapes of one provider; calibrate each provider by itself`
	if err == nil || err.Error() != want {
		t.Errorf("two providers: %v, want %s", err, want)
	}
}

// The stages of kwok take the times that a file states, and else kwok's own second; they are found on tapes on which no kubelet
// reports of pods.
func TestKwokIsCalibrated(t *testing.T) {
	kwok := strings.Replace(scenarioOf("eks", "plain"), "cluster: {", "cluster: {kubelet: kwok, ", 1)
	for timings, want := range map[string][3]time.Duration{
		truth: {50 * time.Second, 8 * time.Second, 4 * time.Second}, "": {time.Second, time.Second, time.Second},
	} {
		var c calibrate.Calibration
		read(t, &c, "kwok", simulated(t, kwok, timings, 1))
		found := map[string]time.Duration{}
		for _, m := range c.Result().Measured {
			found[m.Name] = m.Found.Median.Round(100 * time.Millisecond)
		}
		if got := [3]time.Duration{found["becomeReady"], found["containerReady"], found["appStop"]}; got != want {
			t.Errorf("nodes are ready after %s, pods after %s, and end after %s: want %s, %s and %s", got[0], got[1], got[2], want[0], want[1], want[2])
		}
	}
}
