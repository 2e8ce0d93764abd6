package snapshot_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// TestAnOldDump: the folder of kubectl cluster-info dump of an old cluster, with its budgets beside it. The version of a typed list is that
// of its items, and in policy/v1beta1 an empty selector selects no pod (k8s.io/api/policy/v1beta1, types.go).
func TestAnOldDump(t *testing.T) {
	const (
		web  = `{"metadata":{"namespace":"shop","name":"web"},"spec":{"replicas":3,"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"web:1"}]}}}}`
		logs = `{"metadata":{"namespace":"shop","name":"log"},"spec":{"template":{"metadata":{"labels":{"app":"log"}},"spec":{"containers":[{"name":"log","image":"log:1"}]}}}}`
		all  = `{"metadata":{"namespace":"shop","name":"all"},"spec":{"minAvailable":1,"selector":{}}}`
		none = "budgets without a selector that can be read: 1 (shop/all); they cover no pod and aren't here"
	)
	dump := t.TempDir()
	put(t, dump, "nodes.json", typed(t, "v1", "Node", objects()[0], objects()[1]))
	put(t, dump, "shop/pods.json", typed(t, "v1", "Pod", objects()[2], objects()[3]))
	put(t, dump, "shop/deployments.json", typed(t, "extensions/v1beta1", "Deployment", web))
	put(t, dump, "shop/daemonsets.json", typed(t, "extensions/v1beta1", "DaemonSet", logs))
	put(t, dump, "shop/poddisruptionbudgets.json", typed(t, "policy/v1beta1", "PodDisruptionBudget", aPDB, all))
	f, err := snapshot.Read(t.Context(), snapshot.Source{File: dump})
	if err != nil {
		t.Fatal(err)
	}
	if w := f.Workload("shop/web"); w == nil || w.Kind != spec.KindDeployment || w.Replicas != 3 || len(w.Pods) != 2 {
		t.Errorf("found web as %+v, want a Deployment of 3 with 2 pods", w)
	}
	if w := f.Workload("shop/log"); w == nil || w.Kind != spec.KindDaemonSet {
		t.Errorf("found log as %+v, want a DaemonSet", w)
	}
	if len(f.Budgets) != 1 || f.Budgets[0].Name != "web" || !contains(f.LeftOut, none) {
		t.Errorf("found the budgets %+v, and %q left out: want web alone, and %q", f.Budgets, f.LeftOut, none)
	}
	if said := strings.Join(f.LeftOut, "\n"); strings.Contains(said, "not read") || strings.Contains(said, "objects of other kinds") {
		t.Errorf("found\n%s\nleft out, want every object read", said)
	}
}
