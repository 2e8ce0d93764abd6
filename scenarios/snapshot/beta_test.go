package snapshot_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Workloads of versions that no Kubernetes serves any more are read like those of apps/v1: what only their objects say is in the file.
func TestWorkloadsOfOldVersions(t *testing.T) {
	m := newMade(t)
	m.node("a", "workers", "eu-central-1a", nil)
	m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"a"}, replicas: 3})
	m.workload(part{kind: "StatefulSet", namespace: "shop", name: "db", on: []string{"a"}, replicas: 2})
	m.workload(part{kind: "DaemonSet", namespace: "shop", name: "log", on: []string{"a"}})
	for _, o := range m.objects {
		switch o := o.(type) {
		case *appsv1.Deployment:
			o.APIVersion = "extensions/v1beta1"
		case *appsv1.ReplicaSet:
			o.APIVersion = "extensions/v1beta1"
		case *appsv1.DaemonSet:
			o.APIVersion = "extensions/v1beta1"
		case *appsv1.StatefulSet:
			o.APIVersion = "apps/v1beta1"
		}
	}
	f := m.file(snapshot.Options{At: read})
	for _, c := range []struct {
		ref      string
		kind     spec.WorkloadKind
		replicas int // 0 where the kind has none
	}{{"shop/web", spec.KindDeployment, 3}, {"shop/db", spec.KindStatefulSet, 2}, {"shop/log", spec.KindDaemonSet, 0}} {
		if w := workloadOf(t, f, c.ref); w.Kind != c.kind || c.replicas > 0 && w.Replicas != c.replicas {
			t.Errorf("%s: found a %s with %d replicas, want a %s with %d", c.ref, w.Kind, w.Replicas, c.kind, c.replicas)
		}
	}
	if says(f, "DaemonSets that aren't among the objects: ") || says(f, "objects of other kinds: ") {
		t.Errorf("found %q left out, want every object read", f.LeftOut)
	}
}

// An empty selector ({}) selects no pod in policy/v1beta1, and all pods of the namespace in policy/v1: so say the comments on
// PodDisruptionBudgetSpec.Selector in k8s.io/api/policy/v1beta1 and k8s.io/api/policy/v1. One that is absent selects none in both.
func TestEmptySelectors(t *testing.T) {
	const none = "budgets without a selector that can be read: 1 (shop/all); they cover no pod and aren't here"
	empty, web := &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	for _, c := range []struct {
		version  string
		selector *metav1.LabelSelector
		leftOut  string // "": the budget is in the file, with this selector
	}{
		{"policy/v1", empty, ""}, {"policy/v1beta1", empty, none},
		{"policy/v1", nil, none}, {"policy/v1beta1", nil, none},
		{"policy/v1", web, ""}, {"policy/v1beta1", web, ""},
	} {
		m := newMade(t)
		m.node("a", "workers", "eu-central-1a", nil)
		m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"a"}})
		m.budget("shop", "all", nil, intstr.FromInt32(1))
		b := m.objects[len(m.objects)-1].(*policyv1.PodDisruptionBudget)
		b.APIVersion, b.Spec.Selector = c.version, c.selector
		f := m.file(snapshot.Options{At: read})
		var said []string
		for _, line := range f.LeftOut {
			if strings.HasPrefix(line, "budgets ") {
				said = append(said, line)
			}
		}
		if c.leftOut != "" {
			if len(f.Budgets) > 0 || !slices.Equal(said, []string{c.leftOut}) {
				t.Errorf("%s, selector %s: found the budgets %+v, and %q left out: want none, and %q", c.version, metav1.FormatLabelSelector(c.selector), f.Budgets, said, c.leftOut)
			}
			continue
		}
		if len(f.Budgets) != 1 || f.Budgets[0].Selector == nil || len(f.Budgets[0].Selector.MatchLabels) != len(c.selector.MatchLabels) || len(said) > 0 {
			t.Errorf("%s, selector %s: found the budgets %+v, and %q left out: want one with that selector", c.version, metav1.FormatLabelSelector(c.selector), f.Budgets, said)
		}
	}
}
