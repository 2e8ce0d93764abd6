package simcluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// A NodeClaim or a Machine that a client creates becomes a node, and takes it along when it is deleted.
func TestClientsMachines(t *testing.T) {
	for _, one := range []struct {
		provider spec.Provider
		gvr      schema.GroupVersionResource
		object   map[string]any
	}{
		{spec.ProviderKarpenter, schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}, map[string]any{
			"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
			"metadata": map[string]any{"name": "mine", "labels": map[string]any{"karpenter.sh/nodepool": "workers"}},
			"spec":     map[string]any{"nodeClassRef": map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []any{}},
		}},
		{spec.ProviderCAPI, schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta1", Resource: "machines"}, map[string]any{
			"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine",
			"metadata": map[string]any{"name": "mine", "namespace": "default", "labels": map[string]any{"cluster.x-k8s.io/deployment-name": "workers"}},
			"spec":     map[string]any{"clusterName": "prod"},
		}},
	} {
		t.Run(string(one.provider), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{Provider: one.provider}, spec.Group{Name: "workers", Nodes: 2}))
				c.Start()
				k := clients(t, c)
				d, err := dynamic.NewForConfig(c.RESTConfig())
				if err != nil {
					t.Fatal(err)
				}
				o := &unstructured.Unstructured{Object: one.object}
				kind := d.Resource(one.gvr).Namespace(o.GetNamespace())
				if _, err := kind.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				c.Eventually(20*time.Minute, "a third node", func() bool { return len(readyNodes(t, k)) == 3 })
				list, err := kind.List(t.Context(), metav1.ListOptions{})
				if err != nil || len(list.Items) != 3 {
					t.Errorf("%d objects: %v", len(list.Items), err)
				}
				if err := kind.Delete(t.Context(), "mine", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				c.Eventually(20*time.Minute, "its end", func() bool {
					_, err := kind.Get(t.Context(), "mine", metav1.GetOptions{})
					return apierrors.IsNotFound(err) && len(nodesOf(t, k)) == 2
				})
				sound(t, c)
			})
		})
	}
}

// A Node that a client creates has a kubelet where it asks for one, and stays unknown where it doesn't.
func TestClientsNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{Provider: spec.ProviderKarpenter}, spec.Group{Name: "workers", Nodes: 1}))
		c.Start()
		k := clients(t, c)
		room := corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("32Gi"), "pods": resource.MustParse("110"), "ephemeral-storage": resource.MustParse("20Gi")}
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "fake-1", Labels: map[string]string{"kind": "fake"}, Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}},
			Spec:       corev1.NodeSpec{ProviderID: "kwok://fake-1"},
			Status:     corev1.NodeStatus{Capacity: room, Allocatable: room},
		}
		if _, err := k.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(5*time.Minute, "the node to be Ready", func() bool { return len(readyNodes(t, k)) == 2 })
		get := runsOn(t, c, k, "fake", "fake-1")
		n, err := k.CoreV1().Nodes().Get(t.Context(), "fake-1", metav1.GetOptions{})
		if err != nil || n.Status.Capacity.Cpu().Value() != 8 || n.Spec.ProviderID != "kwok://fake-1" {
			t.Errorf("%+v, %v", n.Status.Capacity, err)
		}
		if err := k.CoreV1().Nodes().Delete(t.Context(), "fake-1", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(10*time.Minute, "the pod to be collected", func() bool { _, err := get(); return apierrors.IsNotFound(err) })
		if got := len(nodesOf(t, k)); got != 1 {
			t.Errorf("%d nodes", got)
		}
	})
}

// runsOn creates a pod for the nodes of a kind, which runs on one of them soon, and returns what reads it.
func runsOn(t *testing.T, c *simcluster.TestCluster, k kubernetes.Interface, kind, node string) (get func() (*corev1.Pod, error)) {
	t.Helper()
	pods := k.CoreV1().Pods("default")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Spec:       corev1.PodSpec{NodeSelector: map[string]string{"kind": kind}, Containers: []corev1.Container{{Name: "a", Image: "registry.example/a:1"}}},
	}
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	get = func() (*corev1.Pod, error) { return pods.Get(t.Context(), "one", metav1.GetOptions{}) }
	c.Eventually(5*time.Minute, "the pod to run there", func() bool {
		p, err := get()
		return err == nil && isReady(p) && p.Spec.NodeName == node
	})
	return get
}
