package simcluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// leads renews a Lease of 15 seconds as a leader does that lives for some time.
func leads(t *testing.T, k kubernetes.Interface, name string, lives time.Duration) {
	t.Helper()
	holder, lasts := "other-0", int32(15)
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &lasts}}
	all := k.CoordinationV1().Leases("kube-system")
	for begun := time.Now(); ; <-time.After(2 * time.Second) {
		now := metav1.NowMicro()
		l.Spec.RenewTime = &now
		var err error
		if l.ResourceVersion == "" {
			l, err = all.Create(t.Context(), l, metav1.CreateOptions{})
		} else {
			l, err = all.Update(t.Context(), l, metav1.UpdateOptions{})
		}
		if err != nil {
			t.Error(err)
			return
		}
		if time.Since(begun) >= lives {
			return
		}
	}
}

// When a leader dies without giving its Lease up, the provider's own Karpenter goes on once the Lease has expired.
func TestADeadKarpenterLeadsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{Provider: spec.ProviderKarpenter}, spec.Group{Name: "workers", Nodes: 1}))
		c.Start()
		k := clients(t, c)
		pod := &corev1.Pod{Spec: template("x").Spec}
		pod.Spec.Containers[0].Resources.Requests = quantities("cpu", "1500m")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			leads(t, k, "karpenter-leader-election", 10*time.Minute)
		}()
		<-time.After(time.Second)
		for _, pod.Name = range []string{"one", "two", "three"} {
			if _, err := k.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		<-ended
		if n := len(nodesOf(t, k)); n != 1 {
			t.Errorf("%d nodes while it leads, want 1", n)
		}
		c.Eventually(20*time.Minute, "nodes for the pods", func() bool { return len(readyNodes(t, k)) > 1 })
		sound(t, c)
	})
}

// While a Cluster API of a client's leads, the simulated one scales no MachineDeployment and launches no Machine; when that is
// over, it does. A Machine of its own it ends all the same.
func TestClusterAPIStandsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCAPI(t)
		c.rests(3)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			leads(t, c.k, "controller-leader-election-capi", 30*time.Minute)
		}()
		<-time.After(time.Minute)
		c.scale(5)
		ours := c.all("machines")[0].GetName()
		if _, err := c.of("machines").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine",
			"metadata": map[string]any{"name": "theirs", "namespace": "default", "labels": map[string]any{"cluster.x-k8s.io/deployment-name": c.name}},
			"spec":     map[string]any{"clusterName": "prod"},
		}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := c.of("machines").Delete(t.Context(), ours, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		<-ended
		if machines, nodes := len(c.all("machines")), len(nodesOf(t, c.k)); machines != 3 || nodes != 2 {
			t.Errorf("while it leads: %d Machines and %d nodes, want 3 and 2", machines, nodes)
		}
		c.Eventually(time.Hour, "five Machines of the MachineDeployment and one of the client's", func() bool {
			return len(c.all("machines")) == 6 && len(readyNodes(t, c.k)) == 6
		})
		sound(t, c.TestCluster)
	})
}
