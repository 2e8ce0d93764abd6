package snapshot_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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

// Values that a provider chooses are told, since the simulation gives its nodes them as they are.
func TestPseudonymsKeepWhatProvidersChoose(t *testing.T) {
	m := newMade(t)
	m.node("a", "workers", "eu-central-1a", func(n *corev1.Node) { n.Labels["eks.amazonaws.com/capacityType"] = "SPOT" })
	m.workload(part{kind: "Deployment", namespace: "shop", name: "web", on: []string{"a"}, spec: corev1.PodSpec{
		NodeSelector: map[string]string{"eks.amazonaws.com/capacityType": "SPOT"},
		Tolerations:  []corev1.Toleration{{Key: "kubernetes.azure.com/scalesetpriority", Value: "spot", Effect: corev1.TaintEffectNoSchedule}},
	}})
	f := m.file(snapshot.Options{At: read, Key: []byte("one key")})
	if s := f.Workloads[0].PodSpec; s.NodeSelector["eks.amazonaws.com/capacityType"] != "SPOT" || s.Tolerations[0].Value != "spot" {
		t.Errorf("found the selector %v and tolerations %+v, want SPOT and spot", s.NodeSelector, s.Tolerations)
	}
}

// A cluster of no provider says as whose its nodes are rolled, and its control plane is a group of its own.
func TestNodesOfNoProvider(t *testing.T) {
	m := newMade(t)
	bare := func(n *corev1.Node) {
		n.Status.NodeInfo.KubeletVersion = "v1.34.2"
		for key := range n.Labels {
			if strings.HasPrefix(key, "eks.amazonaws.com/") {
				delete(n.Labels, key)
			}
		}
		n.Spec.ProviderID = ""
	}
	m.node("a", "", "eu-central-1a", func(n *corev1.Node) {
		bare(n)
		n.Labels["node-role.kubernetes.io/control-plane"] = ""
		n.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
	})
	m.node("b", "", "", bare)
	m.node("c", "", "US-ASHBURN-AD-1", bare)
	f := m.file(snapshot.Options{At: read})
	for _, line := range []string{
		"nodes of no provider that nodesim knows: 3 (a, b, c); they are rolled as those of eks here",
		"nodes without a zone, or with one that no file can name: 2 (b, c); ",
	} {
		if !says(f, line) {
			t.Errorf("found %q left out, want a line %q", f.LeftOut, line)
		}
	}
	if len(f.Groups) != 2 || f.Groups[0].Name != "control-plane" || len(f.Groups[0].Taints) != 1 || f.Groups[1].Name != "nodes" || f.Groups[1].Nodes != 2 {
		t.Errorf("found the groups %+v, want control-plane with its taint, and nodes", f.Groups)
	}
	if shop := shop(t).file(snapshot.Options{At: read}); says(shop, "nodes of no provider") || says(shop, "nodes without a zone") {
		t.Errorf("found %q left out of a cluster of EKS with zones", shop.LeftOut)
	}
}

// A kubelet that says by itself that its node isn't Ready lives; of one whose condition is Unknown nothing is heard.
func TestNodesThatArentReady(t *testing.T) {
	for status, dead := range map[corev1.ConditionStatus]bool{corev1.ConditionTrue: false, corev1.ConditionFalse: false, corev1.ConditionUnknown: true} {
		m := newMade(t)
		m.node("a", "workers", "eu-central-1a", func(n *corev1.Node) { n.Status.Conditions[0].Status = status })
		f := m.file(snapshot.Options{At: read})
		if got := f.Groups[0].Members[0].NotReady; got != dead {
			t.Errorf("Ready is %s: found notReady %v, want %v", status, got, dead)
		}
		if line := "nodes whose kubelet says that they aren't Ready: 1 (a); "; says(f, line) != (status == corev1.ConditionFalse) {
			t.Errorf("Ready is %s: found %q left out", status, f.LeftOut)
		}
	}
}

// A kubelet that no node of the cluster may have is named with the versions that it may have.
func TestKubeletsThatTheClusterMayNotHave(t *testing.T) {
	m := newMade(t)
	m.node("a", "workers", "eu-central-1a", nil)
	m.node("b", "workers", "eu-central-1a", nil)
	for name, version := range map[string]string{"c": "v1.30.9-eks-473151a", "d": "kwok-v0.7.0"} {
		m.node(name, "workers", "eu-central-1a", func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = version })
	}
	f := m.file(snapshot.Options{At: read})
	for _, line := range []string{
		"nodes with a kubelet of version 1.30: 1 (c); want 1.31 to 1.34, as Kubernetes 1.34 allows; they have the version of their group here",
		"nodes with a kubelet version that isn't like v1.34.2: 1 (d); want 1.31 to 1.34, as Kubernetes 1.34 allows; they have the version of their group here",
	} {
		if !says(f, line) {
			t.Errorf("found %q left out, want a line %q", f.LeftOut, line)
		}
	}
}

// Which of two builds of one patch release is newer, the nodes' ages tell, and not the builds' names.
func TestARollToAnotherBuildThatHasBegun(t *testing.T) {
	const older, newer = "v1.34.2-eks-473151a", "v1.34.2-eks-3abbec1"
	m := newMade(t)
	for i, name := range []string{"a", "b", "c"} {
		m.node(name, "workers", "eu-central-1a", func(n *corev1.Node) {
			n.Status.NodeInfo.KubeletVersion = older
			if i == 0 {
				n.Status.NodeInfo.KubeletVersion, n.CreationTimestamp = newer, metav1.NewTime(read.Add(-time.Hour))
			}
		})
	}
	g := &m.file(snapshot.Options{At: read}).Groups[0]
	if g.From.Version != older || g.To.Version != newer {
		t.Errorf("found a roll from %s to %s, want from %s to %s", g.From.Version, g.To.Version, older, newer)
	}
	for i := range g.Members {
		if got := g.Updated(&g.Members[i]); got != (i == 0) {
			t.Errorf("found %s updated: %v", g.Members[i].Name, got)
		}
	}
}

// A node whose device plugin isn't there yet has what others of its type have.
func TestANodeWithoutItsDevices(t *testing.T) {
	m := newMade(t)
	for i, gpus := range []string{"", "4", "0"} {
		m.node(string(rune('a'+i)), "gpu", "eu-central-1a", func(n *corev1.Node) {
			if n.Status.Allocatable = n.Status.Allocatable.DeepCopy(); gpus != "" {
				n.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse(gpus)
			}
		})
	}
	f := m.file(snapshot.Options{At: read})
	if has := f.Cluster.InstanceTypes[0].Allocatable["nvidia.com/gpu"]; has.String() != "4" {
		t.Errorf("found %s GPUs, want 4", has.String())
	}
	if !says(f, "nodes without a device that others of their instance type report: 2 (a, c); ") {
		t.Errorf("found %q left out, want a and c named", f.LeftOut)
	}
}

// What Karpenter does by itself needs no autoscaler of the file; its NodePools would say how it replaces nodes.
func TestKarpenterWithoutItsNodePools(t *testing.T) {
	m := newMade(t)
	m.node("a", "", "eu-central-1a", func(n *corev1.Node) {
		delete(n.Labels, "eks.amazonaws.com/nodegroup-image")
		delete(n.Labels, "eks.amazonaws.com/capacityType")
		n.Labels["karpenter.sh/nodepool"], n.Labels["karpenter.sh/capacity-type"] = "general", "on-demand"
	})
	m.workload(part{kind: "Deployment", namespace: "kube-system", name: "karpenter", on: []string{"a"}})
	f := m.file(snapshot.Options{At: read})
	if f.Cluster.Provider != spec.ProviderKarpenter || !says(f, "NodePools: not among the objects; ") || says(f, "autoscalers: ") {
		t.Errorf("found the provider %s, and %q left out: want NodePools named, and no autoscaler", f.Cluster.Provider, f.LeftOut)
	}
}
