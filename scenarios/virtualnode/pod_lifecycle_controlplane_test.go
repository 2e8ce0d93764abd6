//go:build controlplane

package virtualnode_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

func milli(m int64) resource.Quantity { return *resource.NewMilliQuantity(m, resource.DecimalSI) }

// The history of an evicted pod is a kubelet's: it runs, is deleted, ends, and leaves long before its grace period of
// thirty seconds is over. What the eviction wrote of its reason survives.
func TestEvictedPodOnARealAPIServer(t *testing.T) {
	g := newGround(t)
	g.run(g.cluster.Config(), nil).ready()
	history, err := g.admin.CoreV1().Pods(g.namespace).Watch(g.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer history.Stop()
	g.create("web")
	g.running("web")
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: "web"}}
	if err := g.admin.PolicyV1().Evictions(g.namespace).Evict(g.ctx, eviction); err != nil {
		t.Fatal(err)
	}
	var states []string
	var last *corev1.Pod
	for event := range history.ResultChan() {
		last = event.Object.(*corev1.Pod)
		state := string(last.Status.Phase)
		if last.DeletionTimestamp != nil {
			state += " deleted"
		}
		if len(states) == 0 || states[len(states)-1] != state {
			states = append(states, state)
		}
		if event.Type == watch.Deleted {
			break
		}
	}
	want := []string{"Pending", "Running", "Running deleted", "Succeeded deleted"}
	if !slices.Equal(states, want) {
		t.Errorf("states %q: want %q", states, want)
	}
	conditions := map[corev1.PodConditionType]corev1.ConditionStatus{}
	for _, c := range last.Status.Conditions {
		conditions[c.Type] = c.Status
	}
	if conditions[corev1.DisruptionTarget] != corev1.ConditionTrue || conditions[corev1.PodReady] != corev1.ConditionFalse {
		t.Errorf("conditions at the end %v: want DisruptionTarget True and Ready False", conditions)
	}
	if g.held("web") != nil {
		t.Error("the provider still runs the pod")
	}
}

func TestInPlaceChangesOnARealAPIServer(t *testing.T) {
	g := newGround(t)
	g.run(g.cluster.Config(), nil).ready()
	g.create("web")
	g.running("web")
	image := []byte(`{"spec":{"containers":[{"name":"main","image":"registry.example/app:2"}]}}`)
	if _, err := g.admin.CoreV1().Pods(g.namespace).Patch(g.ctx, "web", types.StrategicMergePatchType, image, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	g.until("the new image in the status", "web", func(p *corev1.Pod) bool {
		return p.Status.ContainerStatuses[0].Image == "registry.example/app:2"
	})
	size := []byte(`{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"200m"}}}]}}`)
	if _, err := g.admin.CoreV1().Pods(g.namespace).Patch(g.ctx, "web", types.StrategicMergePatchType, size, metav1.PatchOptions{}, "resize"); err != nil {
		t.Fatal(err)
	}
	pod := g.until("the generation of the resize in the status", "web", func(p *corev1.Pod) bool {
		return p.Status.ObservedGeneration == p.Generation && p.Generation > 2
	})
	if held := g.held("web"); held.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() != 200 || held.UID != pod.UID {
		t.Errorf("the provider has requests %v: want 200m of CPU", held.Spec.Containers[0].Resources.Requests)
	}
}

// A pod is deleted by force while it runs, and its name is taken by another one at once.
func TestReplacedBehindTheControllersBack(t *testing.T) {
	g := newGround(t)
	g.run(g.cluster.Config(), nil).ready()
	for range 5 {
		first := g.create("web")
		g.running("web")
		if err := g.admin.CoreV1().Pods(g.namespace).Delete(g.ctx, "web", *metav1.NewDeleteOptions(0)); err != nil {
			t.Fatal(err)
		}
		second := g.create("web")
		pod := g.running("web")
		if held := g.held("web"); pod.UID != second.UID || held == nil || held.UID != second.UID {
			t.Fatalf("running %s, at the provider %v: want %s, not %s", pod.UID, held, second.UID, first.UID)
		}
		if err := g.admin.CoreV1().Pods(g.namespace).Delete(g.ctx, "web", *metav1.NewDeleteOptions(0)); err != nil {
			t.Fatal(err)
		}
		g.until("an idle provider", "web", func(*corev1.Pod) bool { return g.held("web") == nil })
	}
}

// A second controller, as after a restart of the process, takes over the pods and their statuses.
func TestNextControllerTakesOver(t *testing.T) {
	g := newGround(t)
	g.run(g.cluster.Config(), nil).ready()
	first := g.create("web")
	g.running("web")
	g.create("forgotten")
	g.running("forgotten")
	if err := g.stop(); err != nil {
		t.Fatal(err)
	}
	if err := g.admin.CoreV1().Pods(g.namespace).Delete(g.ctx, "forgotten", *metav1.NewDeleteOptions(0)); err != nil {
		t.Fatal(err)
	}
	if err := g.provider.Change(g.namespace, "web", func(p *corev1.Pod) { p.Status.Message = "changed meanwhile" }); err != nil {
		t.Fatal(err)
	}
	g.run(g.cluster.Config(), nil).ready()
	g.until("the status of the meantime", "web", func(p *corev1.Pod) bool { return p.Status.Message == "changed meanwhile" })
	g.until("the end of the dangling pod", "forgotten", func(*corev1.Pod) bool { return g.held("forgotten") == nil })
	if pod := g.get("web"); pod.UID != first.UID {
		t.Errorf("pod %s: want %s, which survives", pod.UID, first.UID)
	}
}
