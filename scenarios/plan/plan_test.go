package plan_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
)

func TestMain(m *testing.M) { golden.Main(m) }

// shipped is the file of a shipped scenario, with settings name=value.
func shipped(t testing.TB, name string, set ...string) *scenarios.File {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	var settings []scenarios.Setting
	for _, text := range set {
		name, value, _ := strings.Cut(text, "=")
		settings = append(settings, scenarios.Setting{Name: name, Value: value})
	}
	f, err := s.Document.Resolve(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// parsed is the file of a text.
func parsed(t testing.TB, text string) *scenarios.File {
	t.Helper()
	d, err := scenarios.Parse("mine", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func planned(t testing.TB, f *scenarios.File, o plan.Options) *plan.Plan {
	t.Helper()
	p, err := plan.Of(t.Context(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func written(t testing.TB, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What a plan of three scenarios says, in each form.
func TestPlans(t *testing.T) {
	for _, c := range []struct {
		name string
		file *scenarios.File
		o    plan.Options
	}{
		{"stuck-drain", shipped(t, "stuck-drain"), plan.Options{Runs: 20, Parallel: 2}},
		{"surge", shipped(t, "surge"), plan.Options{Runs: 20, Parallel: 2}},
		{"karpenter-drift-blocked", shipped(t, "karpenter-drift", "blocked=true"), plan.Options{Runs: 5, Parallel: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planned(t, c.file, c.o)
			text := written(t, p.Text)
			golden.Assert(t, c.name+".txt", text)
			golden.Assert(t, c.name+".md", written(t, p.Markdown))
			golden.Assert(t, c.name+".json", written(t, p.JSON))
			for line := range strings.Lines(text) {
				if len([]rune(strings.TrimSpace(line))) > plan.Width {
					t.Errorf("found a line of more than %d columns: %s", plan.Width, line)
				}
			}
		})
	}
}

// The number of runs at a time makes no difference.
func TestRunsEndInAnyOrder(t *testing.T) {
	f := shipped(t, "surge", "nodes=3", "pods=6", "minAvailable=5")
	want := written(t, planned(t, f, plan.Options{Runs: 12, Parallel: 1}).JSON)
	for _, workers := range []int{2, 4, 40} {
		if got := written(t, planned(t, f, plan.Options{Runs: 12, Parallel: workers}).JSON); got != want {
			t.Errorf("%d runs at a time: got %s, want %s", workers, got, want)
		}
	}
}

// Quantiles are those of the runs' durations, by nearest rank, and the samples are runs that have them.
func TestQuantilesAreOfRuns(t *testing.T) {
	f := shipped(t, "surge", "nodes=3", "pods=6", "minAvailable=5")
	var each []time.Duration
	for seed := range uint64(10) {
		p := planned(t, f, plan.Options{Runs: 1, Seed: &seed})
		each = append(each, time.Duration(p.Duration.P50))
	}
	slices.Sort(each)
	first := uint64(0)
	p := planned(t, f, plan.Options{Runs: 10, Seed: &first, Parallel: 2})
	want := plan.Spread{P50: plan.Duration(each[4]), P90: plan.Duration(each[8]), P99: plan.Duration(each[9]), Longest: plan.Duration(each[9])}
	if *p.Duration != want {
		t.Errorf("got %+v, want %+v of %v", *p.Duration, want, each)
	}
	for which, rank := range map[plan.Which]int{plan.Median: 4, plan.Worst: 9} {
		sample := p.Samples[which]
		one, err := p.Sample(f, plan.Options{}, which)
		if err != nil {
			t.Fatal(err)
		}
		again := planned(t, one, plan.Options{Runs: 1})
		if time.Duration(sample.Duration) != each[rank] || again.Duration.P50 != sample.Duration || one.Seed != sample.Seed {
			t.Errorf("%s: got %+v, which again takes %s: want %s", which, sample, again.Duration.P50, each[rank])
		}
	}
}

// smaller is a cluster whose new nodes have no room for a pod of the old ones.
const smaller = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: smaller, title: the new nodes have no room for a pod of the old ones}
timeLimit: 3h
cluster: {provider: eks}
groups:
- {name: workers, nodes: 2, to: {instanceType: t3.medium}}
- {name: other, nodes: 1}
workloads:
- {name: cache, namespace: shop, replicas: 2, requests: {memory: 5Gi}, spread: host, group: workers}
- {name: web, namespace: shop, replicas: 2, group: workers}
budgets: [{workload: web, minAvailable: 2}]
leftOut: ["two NetworkPolicies: nodesim has no network"]
`

// Pods without room are named with what the scheduler says, and changes help: to the machine, and to a budget that allows nothing.
func TestWhatIf(t *testing.T) {
	f := parsed(t, smaller)
	change := func(text string) spec.Change {
		c, err := spec.ParseChange(text)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	o := plan.Options{Groups: []string{"workers"}, Runs: 6, Roll: []spec.Setting{{Name: "force", Value: "true"}}}
	before := planned(t, f, o)
	if len(before.WontRun) != 1 || before.WontRun[0].Workload != "Deployment/shop/cache" || before.WontRun[0].Runs != 6 || before.WontRun[0].Pods != 2 ||
		before.WontRun[0].Reason != "Unschedulable" || !strings.Contains(before.WontRun[0].Message, "Insufficient memory") {
		t.Errorf("got %+v", before.WontRun)
	}
	if before.Ends != 6 || before.Holds() != true || len(before.Blocks) != 1 || before.Blocks[0].Object != "PodDisruptionBudget/shop/web" || before.Blocks[0].Stops != 0 {
		t.Errorf("with force it ends, and the budget holds it up: got %d ends and %+v", before.Ends, before.Blocks)
	}
	if len(before.LeftOut) != 1 || !strings.Contains(written(t, before.Text), "\nLEFT OUT\n- two NetworkPolicies: nodesim has no network\n") {
		t.Errorf("got %q", before.LeftOut)
	}
	o.WhatIf = []spec.Change{change("group/workers:instanceType=m5.large"), change("budget/shop/web:minAvailable=1")}
	after := planned(t, f, o)
	if len(after.WontRun) != 0 || len(after.Blocks) != 0 || after.Duration.P50 >= before.Duration.P50 {
		t.Errorf("got %+v, %+v and %s after %s", after.WontRun, after.Blocks, after.Duration.P50, before.Duration.P50)
	}
}

// A roll that has begun is planned from where it is: nodes that are updated stay.
func TestARollThatHasBegun(t *testing.T) {
	f := parsed(t, `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: begun, title: two of four nodes are replaced}
timeLimit: 4h
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups:
- name: workers
  nodes: 4
  from: {version: v1.34.9-eks-ff5d0cf, image: ami-0a1b2c3d4e5f60718}
  members:
  - {name: new-1}
  - {name: new-2}
  - {name: old-1, version: v1.33.8-eks-0d3cd1e, cordoned: true}
  - {name: old-2, version: v1.33.8-eks-0d3cd1e}
workloads:
- {name: web, replicas: 4}
`)
	for _, version := range []string{"v1.34.9-eks-ff5d0cf", "1.34"} {
		p := planned(t, f, plan.Options{Runs: 5, ToVersion: version, Roll: []spec.Setting{{Name: "strategy", Value: "plain"}}})
		var names []string
		for _, n := range p.Order {
			names = append(names, n.Name)
		}
		slices.Sort(names)
		if !slices.Equal(names, []string{"old-1", "old-2"}) || p.Ends != 5 || p.To[0].Image != "ami-0a1b2c3d4e5f60718" {
			t.Errorf("to %s: %q are replaced, in %d of 5 runs to the end, by %+v", version, names, p.Ends, p.To)
		}
	}
	if p := planned(t, f, plan.Options{Runs: 2}); len(p.Order) != 4 {
		t.Errorf("to a newer image: got %+v", p.Order)
	}
}

// A comparison says what the file can't say of the cluster, as one plan does.
func TestAComparisonNamesWhatIsLeftOut(t *testing.T) {
	p := &plan.Plan{Groups: []string{"workers"}, Runs: 1, LeftOut: []string{"pods that are being deleted: 1 (shop/db-1); they aren't here", "<volumes>"}}
	c := &plan.Comparison{Variants: []plan.Variant{{Of: []string{"force=false"}, Plan: p}, {Of: []string{"force=true"}, Plan: p}}}
	if text, want := written(t, c.Text), "\n\nLEFT OUT\n- pods that are being deleted: 1 (shop/db-1); they aren't here\n- <volumes>\n"; !strings.HasSuffix(text, want) {
		t.Errorf("got %s\nwant %s at its end", text, want)
	}
	if text, want := written(t, c.Markdown), "|\n\nLeft out:\n\n- pods that are being deleted: 1 (shop/db-1); they aren't here\n- &lt;volumes&gt;\n"; !strings.HasSuffix(text, want) {
		t.Errorf("got %s\nwant %s at its end", text, want)
	}
	p.LeftOut = nil
	if text := written(t, c.Text) + written(t, c.Markdown); strings.Contains(strings.ToLower(text), "left out") {
		t.Errorf("got %s", text)
	}
}

// Settings are compared with the same seeds, in every combination.
func TestCompare(t *testing.T) {
	axis := func(text string) plan.Axis {
		a, err := plan.ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	f := shipped(t, "stuck-drain")
	done := 0
	o := plan.Options{Runs: 4, Parallel: 2, Progress: func(n, of int) {
		if done++; n != done || of != 16 {
			t.Errorf("got progress %d of %d, want %d of 16", n, of, done)
		}
	}}
	c, err := plan.Compare(t.Context(), f, o, axis("force=false,true"), axis("budget/shop/web:minAvailable=6,5"))
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, "compare.txt", written(t, c.Text))
	golden.Assert(t, "compare.md", written(t, c.Markdown))
	if !c.Holds() || c.Variants[0].Plan.Holds() || len(c.Variants) != 4 {
		t.Errorf("got %+v", c.Variants)
	}
	if bad, good := c.Variants[0].Plan.Failure(), c.Variants[1].Plan.Failure()+c.Failure(); bad != "the roll does not end by itself in 4 of 4 runs" || good != "" {
		t.Errorf("got %q and %q", bad, good)
	}
	third := c.Variants[2].Plan
	c.Variants = c.Variants[:1]
	if got := c.Failure(); got != "none of 1 combination ends by itself in every run: want one that does" {
		t.Errorf("got %q", got)
	}
	alone := planned(t, f, plan.Options{Runs: 4, Roll: []spec.Setting{{Name: "force", Value: "true"}}})
	if got := third; *got.Duration != *alone.Duration {
		t.Errorf("compared with others it takes %s, alone %s", got.Duration.P50, alone.Duration.P50)
	}
	if _, err := plan.Compare(t.Context(), f, o, axis("maxUnavailable=1,none")); err == nil || !strings.HasPrefix(err.Error(), `maxUnavailable=none: plan: roll: maxUnavailable: "none": want`) {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{"", "force", "force=", "=1", "force=true,true", "force=true,"} {
		if _, err := plan.ParseAxis(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// A policy that a run violates is named with the number of runs. A warning doesn't fail the plan.
func TestPolicies(t *testing.T) {
	for _, severity := range []policy.Severity{policy.SeverityError, policy.SeverityWarning} {
		p, err := policy.Load("mine", []byte(`apiVersion: nodesim.dev/v1
kind: Policy
metadata: {name: mine}
rules:
- {name: quick, over: rolls, severity: `+string(severity)+`, expression: "roll.duration < duration('1m')", message: "a roll takes a minute at most"}
- {name: any, over: rolls, expression: "roll.replaced >= 0"}
`))
		if err != nil {
			t.Fatal(err)
		}
		got := planned(t, shipped(t, "surge"), plan.Options{Runs: 3, Policies: []*policy.Policy{p}})
		warns := severity == policy.SeverityWarning
		if len(got.Policies) != 1 || got.Policies[0].Rule != "quick" || got.Policies[0].Runs != 3 || got.Policies[0].Severity != severity || got.Holds() != warns || (got.Failure() == "") != warns ||
			!strings.Contains(got.Policies[0].Text, "a roll takes a minute at most") {
			t.Errorf("%s: got %+v, failure %q", severity, got.Policies, got.Failure())
		}
		want := "none of 1 combination ends by itself in every run and violates no policy: want one that does both"
		if warns {
			want = ""
		}
		if failure := (&plan.Comparison{Variants: []plan.Variant{{Plan: got}}}).Failure(); failure != want {
			t.Errorf("%s: got failure %q of a comparison, want %q", severity, failure, want)
		}
		if text := written(t, got.Text); !strings.Contains(text, string(severity)+" ") {
			t.Errorf("want the severity in:\n%s", text)
		}
	}
}

// A plan that is interrupted ends, with the reason.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	_, err := plan.Of(ctx, shipped(t, "surge"), plan.Options{Runs: 1000, Parallel: 2, Progress: func(int, int) { cancel(enough) }})
	if !errors.Is(err, enough) {
		t.Errorf("got %v, want %v", err, enough)
	}
}

// What can't be planned is refused in one line.
func TestRefused(t *testing.T) {
	f := shipped(t, "surge")
	empty := parsed(t, "apiVersion: nodesim.dev/v1\nkind: Scenario\nmetadata: {name: a, title: a}\ncluster: {provider: eks}\ngroups: [{name: a, nodes: 0}]\n")
	for _, c := range []struct {
		f    *scenarios.File
		o    plan.Options
		want string
	}{
		{f, plan.Options{Groups: []string{"worker"}}, `node group "worker": there is none of that name: did you mean workers?`},
		{f, plan.Options{Groups: []string{"x"}}, `node group "x": found workers: want one of these`},
		{empty, plan.Options{}, "found no node in the groups to roll: want a group with nodes"},
		{f, plan.Options{Runs: plan.MaxRuns + 1}, "plan: 100001 runs: want 1 to 100000"},
		{f, plan.Options{Runs: -1}, "plan: -1 runs: want 1 to 100000"},
		{f, plan.Options{ToVersion: "1.35"}, `plan: group/workers:version=1.35: to.version: "v1.35.1-eks-01e6083": want 1.31 to 1.34 for a cluster of 1.34`},
		{shipped(t, "inplace-image"), plan.Options{}, `plan: roll: strategy: "inplace-image", which replaces no node: want plain, eks-default or eks-minimal`},
	} {
		if _, err := plan.Of(t.Context(), c.f, c.o); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// Names and messages of a cluster can't act on a terminal, or on a page.
func TestHostileText(t *testing.T) {
	p := planned(t, shipped(t, "stuck-drain"), plan.Options{Runs: 1})
	p.Blocks[0].Text = "a\x1b[31m\u202eb <b>|`c`\n# d"
	p.Blocks[0].Object = "x|`y`\x07"
	p.WontRun = append(p.WontRun, plan.WontRun{Workload: "w\u2028", Message: "[m](javascript:1)\x1b"})
	for name, write := range map[string]func(io.Writer) error{"text": p.Text, "Markdown": p.Markdown, "JSON": p.JSON} {
		got := written(t, write)
		if strings.ContainsAny(got, "\x1b\x07\u202e\u2028") {
			t.Errorf("%s: found what acts on a terminal: %q", name, got)
		}
		if name == "text" && !strings.Contains(got, "a\ufffd[31m") {
			t.Errorf("found no trace of what was replaced: %s", got)
		}
		if name == "Markdown" && (strings.Contains(got, "[m](") || strings.Contains(got, "<b>")) {
			t.Errorf("found what acts on a page: %s", got)
		}
	}
}

// A budget for which AKS refuses the upgrade blocks it in every run.
func TestARefusedUpgrade(t *testing.T) {
	change, bad := spec.ParseChange("budget/shop/web:maxUnavailable=0")
	if bad != nil {
		t.Fatal(bad)
	}
	p := planned(t, shipped(t, "aks-reimage"), plan.Options{Runs: 3, Parallel: 1, WhatIf: []spec.Change{change}})
	if p.Ends != 0 || len(p.Blocks) != 1 || p.Blocks[0].Object != "PodDisruptionBudget/shop/web" || p.Blocks[0].Stops != 3 || p.Blocks[0].Kind != "upgrade-refused" {
		t.Errorf("it ends in %d runs, with the blocks %+v: want the budget that AKS refuses in all 3", p.Ends, p.Blocks)
	}
}
