package simcluster_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// capi is a cluster whose provider is Cluster API, with a group of three nodes.
type capi struct {
	*testing.T
	*simcluster.TestCluster
	k kubernetes.Interface
	d dynamic.Interface
	// name is that of the MachineDeployment.
	name string
}

func newCAPI(t *testing.T) *capi {
	t.Helper()
	c := &capi{T: t, TestCluster: simcluster.ForTest(t, simcluster.Groups(spec.Cluster{Provider: spec.ProviderCAPI}, spec.Group{Name: "workers", Nodes: 3}))}
	c.start()
	return c
}

// start lets the cluster live, and connects its clients.
func (c *capi) start() {
	c.Helper()
	c.TestCluster.Start()
	c.k = clients(c.T, c.TestCluster)
	var err error
	if c.d, err = dynamic.NewForConfig(c.RESTConfig()); err != nil {
		c.Fatal(err)
	}
	c.name = c.all("machinedeployments")[0].GetName()
}

func (c *capi) of(resource string) dynamic.ResourceInterface {
	return c.d.Resource(schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta1", Resource: resource}).Namespace("default")
}

func (c *capi) all(resource string) []unstructured.Unstructured {
	c.Helper()
	list, err := c.of(resource).List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return list.Items
}

// scale does what kubectl scale does with a MachineDeployment.
func (c *capi) scale(replicas int32) {
	c.Helper()
	s := &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: c.name},
		Spec: autoscalingv1.ScaleSpec{Replicas: replicas},
	}
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s)
	if err != nil {
		c.Fatal(err)
	}
	if _, err := c.of("machinedeployments").Update(c.Context(), &unstructured.Unstructured{Object: o}, metav1.UpdateOptions{}, "scale"); err != nil {
		c.Fatal(err)
	}
}

// rests waits until there are as many Machines, and nodes that are Ready, and the objects say so.
func (c *capi) rests(n int64) {
	c.Helper()
	c.Eventually(30*time.Minute, "as many Machines and nodes as are wanted", func() bool {
		for _, resource := range []string{"machinedeployments", "machinesets"} {
			o := c.all(resource)[0].Object
			wanted, _, _ := unstructured.NestedInt64(o, "spec", "replicas")
			has, _, _ := unstructured.NestedInt64(o, "status", "replicas")
			if ready, _, _ := unstructured.NestedInt64(o, "status", "readyReplicas"); wanted != n || has != n || ready != n {
				return false
			}
		}
		return len(c.all("machines")) == int(n) && len(nodesOf(c.T, c.k)) == int(n) && len(readyNodes(c.T, c.k)) == int(n)
	})
}

// A MachineDeployment that a client scales has as many Machines and nodes after that; of those that go, a Machine that is
// marked goes first, and its node is drained.
func TestScaleAMachineDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCAPI(t)
		if len(c.all("machinedeployments")) != 1 || len(c.all("machinesets")) != 1 {
			t.Fatal("want one MachineDeployment with one MachineSet")
		}
		c.rests(3)
		c.scale(5)
		c.rests(5)
		marked := c.all("machines")[3]
		marked.SetAnnotations(map[string]string{"cluster.x-k8s.io/delete-machine": ""})
		if _, err := c.of("machines").Update(t.Context(), &marked, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.scale(4)
		c.rests(4)
		if _, err := c.of("machines").Get(t.Context(), marked.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the marked Machine: %v, want it gone", err)
		}
		c.scale(0)
		c.rests(0)
		c.scale(2)
		c.rests(2)
		events, err := c.k.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=SuccessfulScale"})
		if err != nil || !slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.InvolvedObject.Name == "workers" }) {
			t.Errorf("found no Event of the MachineDeployment: %v", err)
		}
		sound(t, c.TestCluster)
	})
}

// A MachineDeployment that is scaled while the scenario's own rollout goes on has as many Machines when that is over, all of
// the new MachineSet.
func TestScaleDuringARollout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &capi{T: t, TestCluster: simcluster.ForTest(t, simcluster.Scenario("capi-rollout"))}
		c.start()
		<-time.After(time.Minute)
		c.scale(5)
		c.Eventually(2*time.Hour, "five Machines of the new MachineSet, and none of the old one", func() bool {
			sets := map[int64]int{}
			for _, o := range c.all("machinesets") {
				n, _, _ := unstructured.NestedInt64(o.Object, "status", "readyReplicas")
				sets[n]++
			}
			return len(sets) == 2 && sets[0] == 1 && sets[5] == 1 && len(readyNodes(t, c.k)) == 5 && len(nodesOf(t, c.k)) == 5
		})
		sound(t, c.TestCluster)
	})
}

// A Machine that a client deletes is replaced by its MachineSet, and a MachineSet that a client scales is scaled back by its
// MachineDeployment. A MachineDeployment that is deleted takes all of them along.
func TestMachineSetsKeepTheirMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCAPI(t)
		c.rests(3)
		gone := c.all("machines")[0].GetName()
		if err := c.of("machines").Delete(t.Context(), gone, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(20*time.Minute, "the Machine to go", func() bool {
			_, err := c.of("machines").Get(t.Context(), gone, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
		c.rests(3)
		set := c.all("machinesets")[0]
		if err := unstructured.SetNestedField(set.Object, int64(1), "spec", "replicas"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.of("machinesets").Update(t.Context(), &set, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.rests(3)
		if err := c.of("machinedeployments").Delete(t.Context(), "workers", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(30*time.Minute, "MachineSets, Machines and nodes to go", func() bool {
			return len(c.all("machinesets")) == 0 && len(c.all("machines")) == 0 && len(nodesOf(t, c.k)) == 0
		})
		sound(t, c.TestCluster)
	})
}
