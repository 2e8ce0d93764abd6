package scenarios_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/timeline"
)

const twoWebs = `
metadata: {name: two, title: two workloads of a name}
cluster: {provider: eks, jitter: 0}
groups: [{name: workers, nodes: 3}]
settle: 2m
workloads:
- {name: web, namespace: a, kind: StatefulSet, replicas: 2}
- {name: web, namespace: b, kind: StatefulSet, replicas: 3}
- {name: cache, namespace: b}
`

// lives counts the objects of a resource that a tape adds, by their namespace.
func lives(all []timeline.Event, resource, name string) map[string]int {
	count := map[string]int{}
	for _, ev := range all {
		if ev.Resource == resource && ev.Type == timeline.Added && strings.HasPrefix(ev.Name, name) {
			count[ev.Namespace]++
		}
	}
	return count
}

// Two namespaces have workloads of one name, each with pods and a budget of its own; a fault means the one that it names.
func TestWorkloadsOfOneNameInTwoNamespaces(t *testing.T) {
	all := events(t, file(t, twoWebs+`
budgets:
- {workload: web, namespace: a, maxUnavailable: 1}
- {workload: b/web, minAvailable: 3}
- {workload: cache, maxUnavailable: 0}
faults:
- {at: 10s, scale: {workload: b/web, replicas: 5}}
`))
	if diff := cmp.Diff(map[string]int{"a": 2, "b": 5}, lives(all, "pods", "web-")); diff != "" {
		t.Errorf("pods by namespace (-want +got):\n%s", diff)
	}
	covers := map[string]string{}
	for _, ev := range all {
		if ev.Resource != "poddisruptionbudgets" || ev.Type != timeline.Added {
			continue
		}
		var b struct {
			Spec struct {
				Selector struct{ MatchLabels map[string]string }
			}
			Status struct{ ExpectedPods int }
		}
		if err := json.Unmarshal(ev.Object, &b); err != nil {
			t.Fatal(err)
		}
		covers[ev.Namespace+"/"+ev.Name] = fmt.Sprintf("%s %d", b.Spec.Selector.MatchLabels["app"], b.Status.ExpectedPods)
	}
	if diff := cmp.Diff(map[string]string{"a/web": "web 2", "b/web": "web 3", "b/cache": "cache 1"}, covers); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
}

// A trigger counts the pods of the workload that it names, and a fault befalls them alone.
func TestFaultsTellNamespacesApart(t *testing.T) {
	all := events(t, file(t, twoWebs+`
faults:
- {at: 10s, crash: {workload: a/web, pods: 2}}
- {at: 20s, scale: {workload: b/web, replicas: 40}}
- {when: {pods: pending, workload: a/web, count: 1}, mark: {name: "never: those of a are placed"}}
- {when: {pods: pending, workload: b/web, count: 1}, mark: {name: "one of b waits"}}
`))
	var crashed []string
	for _, ev := range all {
		if ev.Resource == "pods" && ev.Type == timeline.Modified && strings.Contains(string(ev.Object)+string(ev.Patch), `"restartCount":1`) {
			crashed = append(crashed, ev.Namespace+"/"+ev.Name)
		}
	}
	slices.Sort(crashed)
	if diff := cmp.Diff([]string{"a/web-0", "a/web-1"}, slices.Compact(crashed)); diff != "" {
		t.Errorf("pods that crashed (-want +got):\n%s", diff)
	}
	if got := marks(all); len(got) != 1 || !strings.HasSuffix(got[0], "one of b waits") {
		t.Errorf("found the marks %q, want the one of b", got)
	}
}

// A workload that is created later, and one that is split, are told from their namesakes too.
func TestWorkloadsOfOneNameCreatedAndSplit(t *testing.T) {
	all := events(t, file(t, `
metadata: {name: two, title: two workloads of a name}
cluster: {provider: eks}
groups: [{name: workers, nodes: 3}]
settle: 1m
workloads:
- {name: web, namespace: a, kind: StatefulSet}
- {name: web, namespace: b, kind: StatefulSet, replicas: 4, replicasPerWorkload: 2}
- {name: web, namespace: c, kind: StatefulSet}
budgets:
- {workload: web, namespace: a, maxUnavailable: 1}
- {workload: web, namespace: b, maxUnavailable: 1}
faults:
- {at: 10s, createWorkload: {workload: c/web}}
`))
	late := 0
	for _, ev := range all {
		if ev.Resource == "pods" && ev.Type == timeline.Added && ev.Namespace == "c" && ev.At > 0 {
			late++
		}
	}
	if got := lives(all, "pods", "web-"); got["a"] != 1 || got["b"] != 4 || got["c"] != 1 || late != 1 {
		t.Errorf("found the pods %v, %d of c created later; want 1, 4 and 1", got, late)
	}
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 2}, lives(all, "poddisruptionbudgets", "web")); diff != "" {
		t.Errorf("budgets by namespace (-want +got):\n%s", diff)
	}
}

// A roll in place is of the workload that it names.
func TestRollInPlaceOfOneOfTwo(t *testing.T) {
	f := file(t, strings.ReplaceAll(twoWebs, "StatefulSet", "ReplicaSet")+"roll: {strategy: inplace-image, workload: b/web, image: registry.example/web:2.0.0}\n")
	if w := f.RolledInPlace(); w == nil || w.Namespace != "b" {
		t.Errorf("found %v rolled in place, want that of b", w)
	}
	changed := map[string]int{}
	for _, ev := range events(t, f) {
		if ev.Resource == "pods" && ev.Type == timeline.Modified && strings.Contains(string(ev.Object)+string(ev.Patch), `"image":"registry.example/web:2.0.0"`) {
			changed[ev.Namespace]++
		}
	}
	if changed["a"] > 0 || changed["b"] == 0 {
		t.Errorf("found changed pods by namespace %v, want those of b", changed)
	}
}
