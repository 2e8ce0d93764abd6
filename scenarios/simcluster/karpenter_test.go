package simcluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// While a Karpenter of a client's leads, the provider's own leaves pods without a place and NodeClaims of other node
// classes to it.
func TestKarpenterStandsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{Provider: spec.ProviderKarpenter}, spec.Group{Name: "workers", Nodes: 1}))
		c.Start()
		k := clients(t, c)
		d, err := dynamic.NewForConfig(c.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		claims := d.Resource(schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"})
		is := func(what string, nodeClaims, nodes int) {
			t.Helper()
			list, err := claims.List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(nodesOf(t, k)); len(list.Items) != nodeClaims || n != nodes {
				t.Errorf("%s: %d NodeClaims and %d nodes, want %d and %d", what, len(list.Items), n, nodeClaims, nodes)
			}
		}
		holder := "karpenter-0"
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "karpenter-leader-election"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}
		if lease, err = k.CoordinationV1().Leases("kube-system").Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "a", Image: "registry.example/a:1", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}},
		}}}}
		for _, pod.Name = range []string{"one", "two", "three"} {
			if _, err := k.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := claims.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
			"metadata": map[string]any{"name": "theirs", "labels": map[string]any{"karpenter.sh/nodepool": "workers"}},
			"spec":     map[string]any{"nodeClassRef": map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}, "requirements": []any{}},
		}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		is("while it leads", 2, 1)

		nobody := ""
		lease.Spec.HolderIdentity = &nobody
		if _, err := k.CoordinationV1().Leases("kube-system").Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(20*time.Minute, "nodes for the pods", func() bool { return len(readyNodes(t, k)) > 1 })
		sound(t, c)
	})
}
