//go:build controlplane

package plan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	app "github.com/nodesim/nodesim/internal/app/plan"

	"github.com/nodesim/nodesim/internal/app/liverun"
	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/internal/localcluster"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// As the program does.
func init() { ctrllog.SetLogger(logr.Discard()) }

const runs = 100

// rollSpeed is that of the rolls: a control plane on two cores keeps up with 15x. NODESIM_FORECAST_SPEED=5 has another one, at which the
// machine's own delays count less.
func rollSpeed(t *testing.T) float64 {
	t.Helper()
	asked := os.Getenv("NODESIM_FORECAST_SPEED")
	if asked == "" {
		return 15
	}
	speed, err := strconv.ParseFloat(asked, 64)
	if err != nil || speed <= 0 {
		t.Fatalf("NODESIM_FORECAST_SPEED=%s: want a number above 0, such as 5", asked)
	}
	return speed
}

// settings are what the roll is done with and planned with.
var settings = map[string][]spec.Setting{
	"eks":       {{Name: "strategy", Value: "eks-default"}, {Name: "evictionTimeout", Value: "5m"}},
	"gke":       {{Name: "strategy", Value: "gke-surge"}, {Name: "evictionTimeout", Value: "6m"}},
	"karpenter": {{Name: "strategy", Value: "karpenter-drift"}, {Name: "budget", Value: "1"}},
	"plain":     {{Name: "strategy", Value: "plain"}, {Name: "evictionTimeout", Value: "5m"}},
}

// loss is why a pod of a generated cluster has no place when its node is replaced.
type loss int

const (
	keeps   loss = iota // all have a place
	smaller             // the new nodes are too small for it
	labeled             // it selects a label that somebody gave to one node by hand
)

// losing is what happens in the cluster of a seed: in every fourth of a provider a pod has no place in the end.
func losing(provider string, seed uint64) loss {
	switch {
	case seed/4%4 != 1:
		return keeps
	case provider == "gke" || seed/16%2 == 1: // of GKE's types nodesim knows one size
		return labeled
	}
	return smaller
}

// loser is the workload that loses its place.
const loser = "Deployment/shop/cache"

// smallerType is the type of the new nodes where they are smaller: 4 GiB in place of m5.large's 8.
const smallerType = "t3.medium"

// generated is a small cluster that a seed draws: some of its workloads have a budget that refuses, and some a pod that loses its place.
func generated(provider string, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 14))
	kind := provider
	if kind == "plain" {
		kind = "eks"
	}
	nodes := 2 + r.IntN(3)
	// EKS brings up two nodes for each zone of a group, and a plan knows the zones that have a node: LEFT OUT says so of two nodes.
	zones := ""
	if provider == "eks" && nodes == 2 {
		zones = ", zones: [eu-central-1a, eu-central-1b]"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: nodesim.dev/v1\nkind: Scenario\nmetadata: {name: forecast-%s-%d, title: a generated cluster}\ntimeLimit: 45m\n", provider, seed)
	lost, more := losing(provider, seed), ""
	switch lost {
	case smaller:
		more = ", to: {instanceType: " + smallerType + "}"
	case labeled:
		var members []string
		for i := range nodes {
			members = append(members, fmt.Sprintf("{name: node-%d%s}", i, map[bool]string{true: ", labels: {example.com/disk: fast}"}[i == 0]))
		}
		more = ", members: [" + strings.Join(members, ", ") + "]"
	}
	fmt.Fprintf(&b, "cluster: {provider: %s, kubernetesVersion: \"1.36\"}\ngroups:\n- {name: workers, nodes: %d%s%s}\nworkloads:\n", kind, nodes, zones, more)
	switch lost {
	case smaller:
		b.WriteString("- {name: cache, namespace: shop, replicas: 1, requests: {cpu: 100m, memory: 5Gi}}\n")
	case labeled:
		b.WriteString("- {name: cache, namespace: shop, replicas: 1, podSpec: {nodeSelector: {example.com/disk: fast}, containers: [{name: cache, image: \"registry.example/cache:1.0.0\"}]}}\n")
	}
	var budgets strings.Builder
	for i := range 1 + r.IntN(3) {
		replicas := 1 + r.IntN(2*nodes)
		spread := []string{"none", "zone", "host"}[r.IntN(3)]
		fmt.Fprintf(&b, "- {name: app%d, namespace: shop, replicas: %d, requests: {cpu: %dm, memory: 128Mi}, spread: %s}\n", i, replicas, 50+50*r.IntN(6), spread)
		switch r.IntN(3) {
		case 0:
			fmt.Fprintf(&budgets, "- {workload: app%d, minAvailable: %d}\n", i, replicas) // refuses all
		case 1:
			fmt.Fprintf(&budgets, "- {workload: app%d, maxUnavailable: 1}\n", i)
		}
	}
	if budgets.Len() > 0 {
		b.WriteString("budgets:\n" + budgets.String())
	}
	b.WriteString("roll:\n")
	for _, s := range settings[provider] {
		fmt.Fprintf(&b, "  %s: %s\n", s.Name, s.Value)
	}
	b.WriteString("  at: 2m\n")
	return b.String()
}

// Generated clusters are made on a real control plane, read from it, planned, and then rolled there: what blocks the roll, which pods
// don't run and whether it ends is as planned, and its duration lies between P5 and P95 in nearly all that are clear. NODESIM_SOAK has 200;
// NODESIM_FORECASTS=10 has the first ten, and NODESIM_FORECASTS=10-49 those of these seeds.
func TestForecastsComeTrue(t *testing.T) {
	first, last := 0, 3
	if os.Getenv("NODESIM_SOAK") != "" {
		last = 199
	}
	if asked := os.Getenv("NODESIM_FORECASTS"); asked != "" {
		from, to, both := strings.Cut(asked, "-")
		if !both {
			from, to = "0", asked // so many
		}
		var errFrom, errTo error
		first, errFrom = strconv.Atoi(from)
		if last, errTo = strconv.Atoi(to); !both {
			last--
		}
		if errFrom != nil || errTo != nil || last < first {
			t.Fatalf("NODESIM_FORECASTS=%s: want a number, or the first and the last seed, such as 10-49", asked)
		}
	}
	providers := []string{"eks", "karpenter", "gke", "plain"}
	timed, within, unclear, losers := 0, 0, 0, 0
	var missed []string
	var longer []int // than so many of a hundred runs each roll took
	var mu sync.Mutex
	note := func(t *testing.T, p *plan.Plan, lost loss) {
		mu.Lock()
		defer mu.Unlock()
		if slices.ContainsFunc(p.WontRun, func(w plan.WontRun) bool { return w.Workload == loser && w.Runs == p.Runs }) {
			losers++
		} else if p.Ends == p.Runs && lost != keeps {
			t.Errorf("the plan ends in all runs, and %s, which loses its place, isn't among the pods that won't run: %+v", loser, p.WontRun)
		}
		if p.Live.Ends && p.Ends > 0 {
			longer = append(longer, 100*p.Live.Longer/p.Ends)
		}
		for _, c := range p.Live.Checks {
			text := fmt.Sprintf("%s: planned %s; live %s", c.What, c.Plan, c.Live)
			if c.What != "duration" {
				if t.Log(text); c.Differs() {
					t.Fail()
				}
				continue
			}
			timed++
			switch {
			case c.Agrees:
				within++
			case c.Unclear:
				unclear++
			default:
				missed = append(missed, t.Name()+": "+text)
			}
			t.Log(text)
		}
	}
	// Of many, eight at once: each waits for its simulated kubelets most of the time.
	atOnce := 1
	if last-first >= 10 {
		atOnce = 8
	}
	seeds := make(chan int)
	var working sync.WaitGroup
	for range atOnce {
		working.Go(func() {
			for i := range seeds {
				provider := providers[i%len(providers)]
				t.Run(fmt.Sprintf("%s-%d", provider, i), func(t *testing.T) {
					note(t, forecast(t, provider, uint64(i)), losing(provider, uint64(i)))
				})
			}
		})
	}
	for i := first; i <= last; i++ {
		seeds <- i
	}
	close(seeds)
	working.Wait()
	t.Log(judged(timed, within, unclear))
	t.Logf("in %d of %d clusters a pod has no place in the end by each run of the plan", losers, last-first+1)
	if len(longer) > 0 {
		sum := 0
		for _, n := range longer {
			sum += n
		}
		t.Logf("each was longer than so many of a hundred runs: %v, on average %d", longer, sum/len(longer))
	}
	if err := verdict(timed, within, unclear); err != nil {
		t.Errorf("%v:\n%s", err, strings.Join(missed, "\n"))
	}
}

// forecast makes a cluster, reads it as it is before its roll, plans, and holds the plan against the roll.
func forecast(t *testing.T, provider string, seed uint64) *plan.Plan {
	t.Helper()
	speed := rollSpeed(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	doc, err := scenarios.Parse("generated.yaml", []byte(generated(provider, seed)))
	if err != nil {
		t.Fatal(err)
	}
	// Each roll has random values of its own, and none of the plan's: with the same ones all would be as slow as each other.
	own := 1000 + seed
	file, err := doc.Resolve(nil, &own)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := localcluster.Start(ctx, localcluster.Options{Name: "forecast", Speed: speed})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	}()
	var read *scenarios.File
	tape := filepath.Join(t.TempDir(), "roll.yaml")
	report, err := liverun.Run(ctx, liverun.Options{
		REST: plane.Config(), File: file, Tape: tape, Say: func(string) {}, Warn: func(string) {},
		Live: []live.Option{live.Speed(speed), live.ClusterSpeed(speed), live.KubeletClients(plane.Config().CAData), live.Keep()},
		Driver: func(h *timeline.Header) (*ui.Driver, error) {
			if read, err = app.Cluster(ctx, snapshot.Source{REST: plane.Config(), Name: "forecast", Now: time.Now()}); err != nil {
				return nil, err
			}
			o, err := observe.OptionsFor(h, "", "", "")
			if err != nil {
				return nil, err
			}
			d := ui.NewDriver(ui.NewView(h, o), unseen{})
			d.View.FeedOnly = true
			return d, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	first := uint64(1)
	var changes []spec.Change
	if losing(provider, seed) == smaller {
		changes = []spec.Change{{Object: "group/workers", Key: "instanceType", Value: smallerType}}
	}
	o := plan.Options{WhatIf: changes, Groups: []string{"workers"}, Roll: settings[provider], Runs: runs, Seed: &first, Parallel: 2, TimeLimit: 43 * time.Minute}
	p, err := plan.Of(ctx, read, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }() // it was only read
	if err := p.Hold(read, o, r, plan.LiveRun{Speed: speed, Slowest: report.Slowest, Paused: report.Lost, Outcomes: report.Outcomes}); err != nil {
		t.Fatal(err)
	}
	return p
}

// unseen shows nothing.
type unseen struct{}

func (unseen) Entries([]noderoll.Entry) error { return nil }

func (unseen) Moment(*ui.View) error { return nil }
