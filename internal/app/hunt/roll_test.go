package hunt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// readCluster is as nodesim snapshot writes a cluster: it has no roll.
const readCluster = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: prod, title: a cluster that was read}
cluster: {provider: eks}
groups:
- {name: workers, nodes: 2, members: [{name: n1, zone: eu-central-1a}, {name: n2, zone: eu-central-1a}]}
- {name: spare, nodes: 1, members: [{name: n3, zone: eu-central-1a}]}
workloads:
- {name: web, namespace: shop, replicas: 2, podLabels: {app: web}, pods: [{name: web-a, node: n1}, {name: web-b, node: n2}]}
budgets:
- {workload: web, minAvailable: 1}
`

func parsed(t *testing.T, text string) *scenarios.Document {
	t.Helper()
	d, err := scenarios.Parse("prod", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// searched are the options of a search through a text.
func searched(t *testing.T, text string, r Roll) hunt.Options {
	t.Helper()
	o, err := prepare(&Config{Scenario: scenarios.Scenario{Name: "prod", Document: parsed(t, text)}, Roll: r, Seed: 1, Cases: 1})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// What happens by itself in a file stays; a file in which nothing does has all of its groups rolled, in each case.
func TestWhatIsRolled(t *testing.T) {
	later := strings.Replace(readCluster, "budgets:", "- {name: late, namespace: shop, createAt: 5m, replicas: 1}\nbudgets:", 1)
	plain := []spec.Setting{{Name: "strategy", Value: "plain"}}
	for _, c := range []struct {
		name, text string
		roll       Roll
		want       string
	}{
		{"a cluster", readCluster, Roll{}, "eks-default of [workers spare]"},
		{"its group", readCluster, Roll{Groups: []string{"spare"}}, "eks-default of [spare]"},
		{"its strategy", readCluster, Roll{Settings: plain}, "plain of [workers spare]"},
		{"a roll", readCluster + "roll: {strategy: eks-minimal, groups: [spare]}\n", Roll{}, "eks-minimal of [spare]"},
		{"another roll", readCluster + "roll: {strategy: eks-minimal, groups: [spare]}\n", Roll{Settings: plain}, "plain of [spare]"},
		{"a fault", readCluster + "faults: [{at: 2m, delete: {nodes: 1}}]\n", Roll{}, "none"},
		{"a fault and a group", readCluster + "faults: [{at: 2m, delete: {nodes: 1}}]\n", Roll{Groups: []string{"workers"}}, "eks-default of [workers]"},
		{"an autoscaler", readCluster + "autoscaler: {}\n", Roll{}, "none"},
		{"a mark", readCluster + "faults: [{at: 2m, mark: {name: noted}}]\n", Roll{}, "eks-default of [workers spare]"},
		{"a workload that comes later", later, Roll{}, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := searched(t, c.text, c.roll)
			strategy, groups, _ := strings.Cut(c.want, " of ")
			for number := range uint64(4) {
				r := o.Space.Case(1, number).Roll
				switch {
				case r == nil && c.want == "none":
				case r == nil || fmt.Sprint(r.Groups) != groups:
					t.Errorf("case %d rolls %+v, want %s", number, r, c.want)
				case number == 0 && string(r.Strategy) != strategy: // the others may draw another one
					t.Errorf("it is rolled by %s, want %s", r.Strategy, strategy)
				}
			}
		})
	}
}

// Settings that were given are those of all cases; the others are drawn.
func TestSettingsOfTheRollAreInAllCases(t *testing.T) {
	o := searched(t, readCluster, Roll{Settings: []spec.Setting{{Name: "strategy", Value: "plain"}, {Name: "maxSurge", Value: "2"}, {Name: "maxUnavailable", Value: "0"}}})
	var timeouts []string
	for number := range uint64(60) {
		r := o.Space.Case(1, number).Roll
		if r.Strategy != spec.StrategyPlain || r.MaxSurge.String() != "2" || r.MaxUnavailable.String() != "0" {
			t.Fatalf("case %d: %s, maxSurge %s, maxUnavailable %s", number, r.Strategy, r.MaxSurge, r.MaxUnavailable)
		}
		if timeout := r.JoinTimeout.String(); !slices.Contains(timeouts, timeout) {
			timeouts = append(timeouts, timeout)
		}
	}
	if len(timeouts) < 3 || !slices.Equal(o.Space.Strategies, []spec.Strategy{spec.StrategyPlain}) {
		t.Errorf("60 cases have the joinTimeouts %v, of %v", timeouts, o.Space.Strategies)
	}
}

// A setting that equals the default has other cases than none, so results of both aren't merged.
func TestInputHasTheSettingsOfTheRoll(t *testing.T) {
	one := searched(t, readCluster, Roll{Settings: []spec.Setting{{Name: "maxUnavailable", Value: "1"}}})
	if other := searched(t, readCluster, Roll{}); one.Input == other.Input {
		t.Errorf("both have the input %s", one.Input)
	}
}

// What a file of timings says is in the input, and its name isn't: a Job's pods read a copy.
func TestInputHasTheTimingsAndNotTheirFile(t *testing.T) {
	input := func(name, boot string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte("apiVersion: nodesim.dev/v1\nkind: Timings\ntimings:\n  boot: "+boot+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := prepare(&Config{Scenario: scenarios.Scenario{Name: "prod", Document: parsed(t, readCluster)}, Timings: file, Seed: 1, Cases: 1})
		if err != nil {
			t.Fatal(err)
		}
		return o.Input
	}
	one := input("mine.yaml", "5m")
	if copied := input("timings.yaml", "5m"); copied != one {
		t.Errorf("a copy has the input %s, want %s", copied, one)
	}
	if other := input("mine.yaml", "6m"); other == one {
		t.Errorf("other times have the input %s as well", other)
	}
}

// The file of a cluster has the roll, and is searched like the file that was read.
func TestAClusterIsAScenario(t *testing.T) {
	f, err := parsed(t, readCluster).Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := Roll{Groups: []string{"workers"}, Settings: []spec.Setting{{Name: "force", Value: "true"}}}
	s, err := Cluster(f, r)
	if err != nil {
		t.Fatal(err)
	}
	if text := s.Document.Text(); s.Name != "prod" || !strings.Contains(text, "roll: {strategy: eks-default, groups: [workers], force: true}") {
		t.Errorf("%s is\n%s", s.Name, text)
	}
	if got, want := searched(t, s.Document.Text(), r).Input, searched(t, readCluster, r).Input; got != want {
		t.Errorf("the input is %s, want %s as of the file", got, want)
	}
	var bad *plan.OptionError
	if _, err := Cluster(f, Roll{Groups: []string{"wrkers"}}); !errors.As(err, &bad) || !strings.HasSuffix(err.Error(), "did you mean workers?") {
		t.Errorf("found %v", err)
	}
}
