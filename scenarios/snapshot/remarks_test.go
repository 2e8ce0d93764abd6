package snapshot_test

import (
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// A plan says less than the cluster does where pods of one workload differ, or take longer than a simulation knows: the file names them.
func TestPodsThatArentAsTheFileHasThem(t *testing.T) {
	m := newMade(t)
	m.node("a", "workers", "eu-central-1a", nil)
	m.node("b", "workers", "eu-central-1b", nil)
	m.workload(part{kind: "Deployment", namespace: "shop", name: "crashes", on: []string{"a", "b"}, pod: func(p *corev1.Pod) {
		status := corev1.ConditionTrue
		if p.Spec.NodeName == "b" {
			status = corev1.ConditionFalse
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
	}})
	m.workload(part{kind: "StatefulSet", namespace: "shop", name: "db", on: []string{"a", "b"}, pod: func(p *corev1.Pod) {
		p.Labels = maps.Clone(p.Labels)
		p.Labels["role"] = "replica"
		if p.Spec.NodeName == "a" {
			p.Labels["role"] = "primary"
		}
	}})
	m.budget("shop", "primary", map[string]string{"role": "primary"}, intstr.FromInt32(1))
	hour := int64(time.Hour / time.Second)
	m.workload(part{kind: "Deployment", namespace: "shop", name: "games", on: []string{"a"}, spec: corev1.PodSpec{TerminationGracePeriodSeconds: &hour}})
	m.workload(part{kind: "Deployment", namespace: "shop", name: "hooked", on: []string{"a"}, pod: func(p *corev1.Pod) {
		p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 60}}}
	}})
	f := m.file(snapshot.Options{At: read})
	for _, line := range []string{
		"pods that have a node and aren't Ready: 1 (shop/crashes-", "workloads whose pods have different labels: 1 (shop/db); ",
		"workloads with a long grace period, a preStop hook or a finalizer: 2 (shop/games, shop/hooked); ",
		"budgets that select no pod: 1 (shop/primary); ", // the youngest is a replica, and all are as that one
	} {
		if !says(f, line) {
			t.Errorf("found %q left out, want a line %q", f.LeftOut, line)
		}
	}
}

// What most nodes are decides of what provider and kind a cluster and its groups are, and the others are named.
func TestGroupsWhoseNodesDiffer(t *testing.T) {
	m := newMade(t)
	pool := func(capacity string) func(*corev1.Node) {
		return func(n *corev1.Node) {
			delete(n.Labels, "eks.amazonaws.com/nodegroup")
			n.Labels["karpenter.sh/nodepool"], n.Labels["karpenter.sh/capacity-type"] = "general", capacity
		}
	}
	m.node("a", "", "eu-central-1a", pool("spot"))
	m.node("b", "workers", "eu-central-1a", nil)
	m.node("c", "workers", "eu-central-1b", func(n *corev1.Node) { n.Labels[corev1.LabelInstanceTypeStable] = "m5.4xlarge" })
	m.node("d", "workers", "eu-central-1b", func(n *corev1.Node) { n.Labels["eks.amazonaws.com/capacityType"] = "SPOT" })
	f := m.file(snapshot.Options{At: read})
	if f.Cluster.Provider != spec.ProviderEKS {
		t.Errorf("found the provider %s, want that of most nodes", f.Cluster.Provider)
	}
	for i := range f.Groups {
		if g := &f.Groups[i]; g.Name == "workers" && g.CapacityType == spec.CapacitySpot {
			t.Errorf("one spot node of %d makes the group spot", g.Nodes)
		}
	}
	for _, line := range []string{
		"nodes of another provider than most: 1 (a); ", "nodes of another instance type than most of their group: 1 (c); ",
		"node groups of spot and on-demand nodes: 1 (workers); ",
	} {
		if !says(f, line) {
			t.Errorf("found %q left out, want a line %q", f.LeftOut, line)
		}
	}
}

// Karpenter's nodes beside managed node groups are groups of their own, whose new nodes have the labels that pods select them by.
func TestGroupsOfTwoProviders(t *testing.T) {
	m := newMade(t)
	karpenter := func(name string) func(*corev1.Node) {
		return func(n *corev1.Node) {
			delete(n.Labels, "eks.amazonaws.com/nodegroup")
			n.Labels["karpenter.sh/nodepool"], n.Labels["karpenter.sh/capacity-type"] = name, "on-demand"
		}
	}
	m.node("a", "", "eu-central-1a", karpenter("general"))
	m.node("b", "", "eu-central-1a", karpenter("workers"))
	m.node("c", "workers", "eu-central-1a", nil)
	m.node("d", "workers", "eu-central-1b", nil)
	m.node("e", "web_a", "eu-central-1b", nil)
	m.node("f", "web-a", "eu-central-1b", nil)
	m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"a"}, spec: corev1.PodSpec{NodeSelector: map[string]string{"karpenter.sh/nodepool": "general"}}})
	m.workload(part{kind: "Deployment", namespace: "shop", name: "jobs", on: []string{"c"}, spec: corev1.PodSpec{NodeSelector: map[string]string{"eks.amazonaws.com/nodegroup": "workers"}}})
	f := m.file(snapshot.Options{At: read})
	if is := workloadOf(t, f, "shop/jobs").PodSpec.NodeSelector["eks.amazonaws.com/nodegroup"]; is != "workers-2" {
		t.Errorf("pods of the managed node group select %q, want what the file calls it", is)
	}
	groups, labels := map[string]string{}, map[string]map[string]string{}
	for _, g := range f.Groups {
		labels[g.Name] = g.Labels
		for _, n := range g.Members {
			groups[n.Name] = g.Name
		}
	}
	want := map[string]string{"a": "general", "b": "workers", "c": "workers-2", "d": "workers-2", "e": "web-a", "f": "web-a-2"}
	if !maps.Equal(groups, want) {
		t.Errorf("the groups of nodes are %v, want %v", groups, want)
	}
	if labels["general"]["karpenter.sh/nodepool"] != "general" || len(labels["workers-2"]) > 0 {
		t.Errorf("groups have the labels %v, want Karpenter's of the first alone", labels)
	}
}

// kube-apiserver takes a budget with neither number; it allows no disruption.
func TestABudgetWithoutANumber(t *testing.T) {
	m := newMade(t)
	m.node("a", "workers", "eu-central-1a", nil)
	m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"a"}})
	m.budget("shop", "neither", map[string]string{"app": "web"}, intstr.FromInt32(1))
	m.objects[len(m.objects)-1].(*policyv1.PodDisruptionBudget).Spec.MinAvailable = nil
	f := m.file(snapshot.Options{At: read})
	if len(f.Budgets) != 1 || f.Budgets[0].MinAvailable == nil || f.Budgets[0].MinAvailable.String() != "100%" {
		t.Errorf("found the budgets %+v, want one of 100%%", f.Budgets)
	}
}

// kube-apiserver puts a pod's own values of matchLabelKeys into its selectors; those of a simulated rollout are others.
func TestMatchLabelKeys(t *testing.T) {
	m := newMade(t)
	m.node("a", "workers", "eu-central-1a", nil)
	selector := func() *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}, MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "pod-template-hash", Operator: metav1.LabelSelectorOpIn, Values: []string{"6d4cf56db6"}},
		}}
	}
	m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"a"}, spec: corev1.PodSpec{
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector(), MatchLabelKeys: []string{"pod-template-hash"},
		}},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: selector(), MatchLabelKeys: []string{"pod-template-hash"},
		}}}},
	}})
	its := workloadOf(t, m.file(snapshot.Options{At: read}), "shop/web").PodSpec
	if left := its.TopologySpreadConstraints[0].LabelSelector.MatchExpressions; len(left) > 0 {
		t.Errorf("the spread still asks for %v", left)
	}
	if left := its.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions; len(left) > 0 {
		t.Errorf("the anti-affinity still asks for %v", left)
	}
}
