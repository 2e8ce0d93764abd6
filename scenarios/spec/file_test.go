package spec

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
)

func everything(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func resolved(t testing.TB, text string, set ...Setting) *File {
	t.Helper()
	d, err := Parse("file.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// small is the shortest file: two nodes, one workload, one budget, one roll.
const small = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: small, title: two nodes}
cluster: {provider: eks}
groups:
- {name: workers, nodes: 2}
workloads:
- {name: web, namespace: shop}
budgets:
- {workload: web, maxUnavailable: 1}
roll: {strategy: eks-default}
`

func TestDefaultsAreFilledIn(t *testing.T) {
	zones := []string{"eu-central-1a", "eu-central-1b", "eu-central-1c"}
	want := &File{
		APIVersion: APIVersion, Kind: FileKind, Metadata: Metadata{Name: "small", Title: "two nodes"},
		Start: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC), Seed: 1, TimeLimit: 2 * time.Hour, Settle: 30 * time.Second,
		Cluster: Cluster{
			Provider: ProviderEKS, Name: "prod", KubernetesVersion: "1.34", Region: "eu-central-1", Zones: zones,
			Kubelet: KubeletReal, Jitter: 100, Events: true, Handler: HandlerNone,
		},
		Groups: []Group{{
			Name: "workers", Nodes: 2, Zones: zones, InstanceType: "m5.large", CapacityType: CapacityOnDemand, OS: "al2023",
			Min: 1, Max: 12, FreeIPs: 1_000_000,
			From: NodeImage{Image: "ami-00f88bc144a36600d", Version: "v1.34.8-eks-0d3cd1e", Release: "1.34.8-20260818", InstanceType: "m5.large"},
			To:   NodeImage{Image: "ami-024ec63c97678562a", Version: "v1.34.9-eks-ff5d0cf", Release: "1.34.9-20260903", InstanceType: "m5.large"},
		}},
		Workloads: []Workload{{
			Name: "web", Namespace: "shop", Kind: KindDeployment, Replicas: 1,
			Requests: Requests{CPU: resource.MustParse("100m"), Memory: resource.MustParse("128Mi")},
			Image:    "registry.example/web:1.0.0", ImageSize: resource.MustParse("60Mi"), Grace: 30 * time.Second,
			Stop:   Dist{Kind: DistLognormal, Median: 2 * time.Second, P95: 12 * time.Second},
			Ready:  Dist{Kind: DistLognormal, Median: 3 * time.Second, P95: 8 * time.Second},
			Spread: SpreadNone, Priority: PriorityNone,
		}},
		Budgets: []Budget{{
			Name: "web", Namespace: "shop", Workload: "web", MaxUnavailable: number(1), UnhealthyPodEvictionPolicy: UnhealthyIfHealthyBudget,
		}},
		Roll: &Roll{
			Strategy: StrategyEKSDefault, Groups: []string{"workers"}, At: 30 * time.Second, MaxUnavailable: IntOrPercent{Value: 1},
			EvictionTimeout: 15 * time.Minute, JoinTimeout: 15 * time.Minute, SettleAfterDrain: time.Minute, OnFailure: OnFailureLeave,
		},
	}
	if diff := cmp.Diff(want, resolved(t, small)); diff != "" {
		t.Errorf("the resolved file differs (-want +got):\n%s", diff)
	}
}

func TestSettingsAndSeed(t *testing.T) {
	text, _, _ := strings.Cut(everything(t), "faults:\n") // some aren't for kwok
	d, err := Parse("everything.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(1<<64 - 1)
	f, err := d.Resolve([]Setting{
		{"nodes", "50"}, {"force", "true"}, {"kubelet", "kwok"}, {"tag", "2"}, {"stall", "1m30s"}, {"surge", "7%"},
		{"memory", "1Gi"}, {"nodes", "70"},
	}, &seed)
	if err != nil {
		t.Fatal(err)
	}
	type facts struct {
		Nodes    int
		Force    bool
		Kubelet  KubeletProfile
		Image    string
		Timeout  time.Duration
		Surge    IntOrPercent
		Memory   string
		Seed     uint64
		Settings []Setting
	}
	got := facts{
		f.Groups[0].Nodes, f.Roll.Force, f.Cluster.Kubelet, f.Workloads[0].Image, f.Roll.EvictionTimeout, f.Roll.MaxUnavailable,
		f.Workloads[0].Requests.Memory.String(), f.Seed, f.Settings,
	}
	want := facts{70, true, "kwok", "registry.example/web:2", 90 * time.Second, *share(7), "1Gi", seed, []Setting{
		{"nodes", "70"}, {"force", "true"}, {"kubelet", "kwok"}, {"tag", "2"}, {"stall", "1m30s"}, {"surge", "7%"}, {"memory", "1Gi"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what was set differs (-want +got):\n%s", diff)
	}
	again, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.Groups[0].Nodes != 6 || again.Seed != 7 {
		t.Errorf("after another Resolve: %d nodes and seed %d, want the file's 6 and 7", again.Groups[0].Nodes, again.Seed)
	}
}

// The table in Roll's comment is that of the strategies.
func TestStrategiesAreDocumented(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "strategy\tmaxUnavailable\tmaxSurge\tbudget\tevictionTimeout\tjoinTimeout\tsettleAfterDrain\tsoak")
	for _, way := range ways() {
		r, row := &Roll{}, []string{string(way.strategy)}
		for _, v := range r.numbers(&way) {
			row = append(row, "")
			if v.usual != nil {
				row[len(row)-1] = v.usual.String()
			}
		}
		for _, v := range r.durations(&way) {
			row = append(row, "")
			if v.usual != nil {
				row[len(row)-1] = short(*v.usual)
			}
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	var comment strings.Builder
	for line := range strings.Lines(table.String()) {
		comment.WriteString(strings.TrimRight("//\t"+line, " \n") + "\n")
	}
	source, err := os.ReadFile("roll.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), comment.String()) {
		t.Errorf("the comment of Roll lacks the table of strategies:\n%s", comment.String())
	}
}

// An image's version decides about the rest of it.
func TestVersionOfAnImage(t *testing.T) {
	f := resolved(t, strings.Replace(small, "nodes: 2}", "nodes: 2, from: {version: v1.32.4-eks-0123abc}}", 1))
	from := f.Groups[0].From
	if from.Version != "v1.32.4-eks-0123abc" || from.Release != "1.32.4-20260818" || !strings.HasPrefix(from.Image, "ami-") {
		t.Errorf("got %+v, want a release and an image of 1.32.4", from)
	}
}

// Every strategy can be chosen with its provider alone, and has what it says.
func TestEveryStrategyHasItsDefaults(t *testing.T) {
	for _, w := range ways() {
		providers := w.providers
		if len(providers) == 0 {
			providers = []Provider{ProviderEKS, ProviderKarpenter, ProviderGKE, ProviderAKS, ProviderCAPI, ProviderKOps}
		}
		for _, p := range providers {
			f := resolved(t, `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: x, title: x}
cluster: {provider: `+string(p)+`, kubernetesVersion: "`+oldestFor(w)+`"}
groups: [{name: workers, nodes: 2}]
`+rollOf(w))
			if w.inPlace {
				if f.Roll.MaxUnavailable.Value != 1 || f.Roll.JoinTimeout != 5*time.Minute || f.Roll.Groups != nil {
					t.Errorf("%s on %s: %+v, want one pod at a time, five minutes for each, and no group", w.strategy, p, f.Roll)
				}
				continue
			}
			if f.Roll.MaxUnavailable.Value+f.Roll.MaxSurge.Value+f.Roll.Budget.Value == 0 {
				t.Errorf("%s on %s replaces no node at a time", w.strategy, p)
			}
			if g := f.Groups[0]; g.From.Version == g.To.Version || minorOf(g.To.Version) != 27 || g.From.Image == g.To.Image && p != ProviderGKE {
				t.Errorf("%s on %s: from %v to %v, want another patch release of 1.27 in another image", w.strategy, p, g.From, g.To)
			}
		}
	}
}

// rollOf is the shortest roll by a strategy, with what it is about.
func rollOf(w way) string {
	const pods = "workloads: [{name: web, kind: ReplicaSet}]\n"
	switch w.strategy {
	case StrategyImage:
		return pods + "roll: {strategy: inplace-image, workload: web, image: web:2}\n"
	case StrategyResize:
		return pods + "roll: {strategy: inplace-resize, workload: web, requests: {cpu: 2}}\n"
	}
	return "roll: {strategy: " + string(w.strategy) + "}\n"
}

// oldestFor is the oldest version of Kubernetes that a strategy needs.
func oldestFor(w way) string {
	if w.strategy == StrategyResize {
		return "1.33"
	}
	return "1.27"
}

func TestFileIsGood(t *testing.T) {
	judge := bySchema(t)
	for name, text := range map[string]string{"everything": everything(t), "small": small} {
		if err := judge(text); err != nil {
			t.Errorf("%s: the schema refuses it: %v", name, err)
		}
		if _, err := Parse(name, []byte(text)); err != nil {
			t.Error(err)
		}
	}
}

func TestIntOrPercentOf(t *testing.T) {
	for _, c := range []struct {
		v         IntOrPercent
		total     int
		up        bool
		want      int
		wantWords string
	}{
		{*number(3), 10, true, 3, "3"},
		{*share(33), 10, true, 4, "33%"}, {*share(33), 10, false, 3, "33%"}, {*share(0), 10, true, 0, "0%"},
		{*share(100), 600_000, false, 600_000, "100%"}, {*share(1), 1, true, 1, "1%"},
	} {
		if got := c.v.Of(c.total, c.up); got != c.want || c.v.String() != c.wantWords {
			t.Errorf("%s of %d (up %t): got %d, want %d", c.v, c.total, c.up, got, c.want)
		}
	}
}
