package karpenter_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	kwokapis "sigs.k8s.io/karpenter/kwok/apis"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	"sigs.k8s.io/karpenter/pkg/apis"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/test/strangers/place"
)

func TestInASimulatedCluster(t *testing.T) {
	defer leftJanitors(t)
	place.Simulated(t, provision)
}

// Where the cluster's provider is a simulated Karpenter, that one keeps its own NodeClaims and leaves the others alone.
func TestBesideASimulatedKarpenter(t *testing.T) {
	defer leftJanitors(t)
	place.SimulatedOn(t, spec.Cluster{Provider: spec.ProviderKarpenter}, place.Nodes, func(p *place.Place) {
		provision(p)
		c, err := client.New(p.Config(), client.Options{Scheme: scheme.Scheme})
		p.Must(err)
		if n := len(claimed(p, c, "workers")); n != place.Nodes {
			p.Errorf("%d NodeClaims of the simulated Karpenter's, want %d", n, place.Nodes)
		}
	})
}

// leftJanitors takes it that goroutines are left in a bubble: those that clean up the caches of github.com/patrickmn/go-cache,
// of which Karpenter's controllers have several. They end in a finalizer, which runs outside of the bubble, if at all.
func leftJanitors(t *testing.T) {
	switch v := recover(); {
	case v == nil:
		t.Error("no goroutine is left in the bubble: want this function removed")
	case !strings.Contains(fmt.Sprint(v), "blocked goroutines remain"):
		panic(v)
	}
}

func init() {
	if err := apiextensionsv1.AddToScheme(scheme.Scheme); err != nil {
		panic(err)
	}
	log.SetLogger(logr.Discard())
}

// provision has Karpenter launch nodes for pods of its NodePool, replace them when the NodePool changes, move pods
// together when they are fewer, and end the nodes when no pod is left.
func provision(p *place.Place) {
	p.Fill()
	c, err := client.New(p.Config(), client.Options{Scheme: scheme.Scheme})
	p.Must(err)
	p.Define(c, slices.Concat(apis.CRDs, kwokapis.CRDs))
	nodes := p.Kube.CoreV1().Nodes()
	disrupted := place.Counts(p, nodes.List, nodes.Watch, metav1.ListOptions{LabelSelector: v1.NodePoolLabelKey + "=big"}, isDisrupted)
	p.During(func(ctx context.Context) error { return operate(ctx, p) }, func() {
		p.KeepsTheBudget(func() { grows(p, c); shrinks(p, c) })
	})
	if _, n := disrupted(); n != 1 {
		p.Errorf("%d nodes were disrupted at a time, the NodePool's budget wants 1", n)
	}
}

// grows scales a Deployment up, and has the nodes that Karpenter launches for it drift.
func grows(p *place.Place, c client.Client) {
	p.Helper()
	p.Must(c.Create(p.Context(), &v1alpha1.KWOKNodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}))
	p.Must(c.Create(p.Context(), pool()))
	p.Eventually(time.Minute, "the NodePool to be ready", func() (bool, string) {
		var found v1.NodePool
		p.Must(c.Get(p.Context(), client.ObjectKey{Name: "big"}, &found))
		return found.StatusConditions().Root().IsTrue(), fmt.Sprint(found.Status.Conditions)
	})
	p.Deploy("big", "1500m", 2, map[string]string{v1.NodePoolLabelKey: "big"})
	p.UntilReady("big", 2)
	if n := len(claimed(p, c, "big")); n != 1 {
		p.Errorf("Karpenter launched %d nodes for 2 pods, want 1", n)
	}
	p.Scale("big", big)
	p.Budget("big", big, 1)
	first := claimed(p, c, "big")
	if len(first) != big/aNode {
		p.Errorf("%d nodes for %d pods, want %d", len(first), big, big/aNode)
	}

	p.Keeps("big", big-1, func() {
		var changed v1.NodePool
		p.Must(c.Get(p.Context(), client.ObjectKey{Name: "big"}, &changed))
		before := changed.DeepCopy()
		changed.Spec.Template.Labels["generation"] = "2"
		p.Must(c.Patch(p.Context(), &changed, client.MergeFrom(before)))
		p.Eventually(time.Hour, "all nodes to be replaced", func() (bool, string) {
			now := claimed(p, c, "big")
			for name := range first {
				if now[name] {
					return false, fmt.Sprintf("%d nodes, %s among them", len(now), name)
				}
			}
			return len(now) == len(first), fmt.Sprintf("%d nodes", len(now))
		})
		p.UntilReady("big", big)
	})
	p.Logf("Karpenter replaced %d nodes", len(first))
}

// shrinks scales the Deployment down to one pod a node and removes it.
func shrinks(p *place.Place, c client.Client) {
	p.Helper()
	onNode := map[string]string{}
	for _, pod := range p.Pods("big", "") {
		if onNode[pod.Spec.NodeName] == "" {
			onNode[pod.Spec.NodeName] = pod.Name
			p.KeepAtScale(pod.Name)
		}
	}
	left := big / aNode
	p.Scale("big", int32(left))
	p.UntilReady("big", left)
	p.Eventually(time.Hour, "a node's pod to move to another", func() (bool, string) {
		now := claimed(p, c, "big")
		return len(now) == (left+aNode-1)/aNode, fmt.Sprintf("%d nodes", len(now))
	})
	p.UntilReady("big", left)
	moved := slices.DeleteFunc(p.Pods("big", ""), func(pod corev1.Pod) bool { return onNode[pod.Spec.NodeName] == pod.Name })
	if len(moved) != 1 {
		p.Errorf("consolidation moved %d pods, want 1", len(moved))
	}
	p.Must(p.Kube.AppsV1().Deployments(place.Shop).Delete(p.Context(), "big", metav1.DeleteOptions{}))
	p.Eventually(time.Hour, "the nodes to end", func() (bool, string) {
		list, err := p.Kube.CoreV1().Nodes().List(p.Context(), metav1.ListOptions{})
		p.Must(err)
		now := claimed(p, c, "big")
		return len(now) == 0 && len(list.Items) == place.Nodes, fmt.Sprintf("%d nodes of Karpenter's, %d in all", len(now), len(list.Items))
	})
}

// The Deployment at its largest, and how many of its pods a node of the NodePool holds.
const (
	big   = 6
	aNode = 2
)

// pool is a NodePool whose nodes have four CPUs, and kubelets in both places.
func pool() *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "big"}}
	p.Spec.Template.Labels = map[string]string{"generation": "1", "testcluster.nodesim.dev/kubelet": "alive"}
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: kwokapis.Group, Kind: "KWOKNodeClass", Name: "default"}
	p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{v1.CapacityTypeOnDemand}},
		{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
		{Key: corev1.LabelOSStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}},
		{Key: v1alpha1.InstanceCPULabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{"4"}},
	}
	p.Spec.Template.Spec.ExpireAfter = v1.MustParseNillableDuration("720h")
	p.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmptyOrUnderutilized
	p.Spec.Disruption.ConsolidateAfter = v1.MustParseNillableDuration("30s")
	p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}}
	p.Spec.Limits = v1.Limits{corev1.ResourceCPU: resource.MustParse("100")}
	return p
}

// isDisrupted reports whether Karpenter disrupts a node: it has tainted it, or deletes it.
func isDisrupted(o runtime.Object) bool {
	n := o.(*corev1.Node)
	return n.DeletionTimestamp != nil || slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == v1.DisruptedTaintKey })
}

// claimed are the NodeClaims of a NodePool, by their names.
func claimed(p *place.Place, c client.Client, pool string) map[string]bool {
	p.Helper()
	var list v1.NodeClaimList
	p.Must(c.List(p.Context(), &list, client.MatchingLabels{v1.NodePoolLabelKey: pool}))
	names := map[string]bool{}
	for _, claim := range list.Items {
		names[claim.Name] = true
	}
	return names
}
