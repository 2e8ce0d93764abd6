package live

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// commonPod is the i-th pod of a workload: every third one has another image.
func commonPod(i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprint("web-", i),
			OwnerReferences: []metav1.OwnerReference{{UID: "web", Controller: ptr.To(true)}},
			Labels:          map[string]string{"app": "web"},
		},
		Spec: corev1.PodSpec{
			NodeName: fmt.Sprint("node-", i), Tolerations: []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{Name: "web", Image: fmt.Sprint("web:", i%3/2)}},
		},
		Status: corev1.PodStatus{
			HostIP: "10.0.0.1", HostIPs: []corev1.HostIP{{IP: "10.0.0.1"}},
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, Reason: "R", Message: "m"}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "web", Image: "web:1", ImageID: "web@sha256:1", ContainerID: fmt.Sprint(i)}},
		},
	}
}

// What is shared stays what it was, and pods that differ share nothing.
func TestInterner(t *testing.T) {
	var c interner
	var pods []*corev1.Pod
	for i := range 9 {
		pod := commonPod(i)
		c.pod(pod)
		if !apiequality.Semantic.DeepEqual(pod, commonPod(i)) {
			t.Errorf("pod %d has become %+v: want it as it was", i, pod)
		}
		pods = append(pods, pod)
	}
	for i, a := range pods {
		for k, b := range pods {
			alike := i%3/2 == k%3/2
			if got := &a.Spec.Containers[0] == &b.Spec.Containers[0]; got != alike {
				t.Errorf("pods %d and %d share their containers: %t, want %t", i, k, got, alike)
			}
		}
	}
}

// Pods that were bound in several zones, which the API server writes into their labels
// (k8s.io/kubernetes, plugin/pkg/admission/podtopologylabels), share their
// specification, and those of one zone their labels.
func TestInternerOfZones(t *testing.T) {
	var c interner
	var pods []*corev1.Pod
	for i := range 6 {
		pod := commonPod(0)
		pod.Labels[corev1.LabelTopologyZone] = fmt.Sprint("zone-", i%3)
		pod.Spec.NodeName, pod.Spec.Hostname = fmt.Sprint("node-", i), fmt.Sprint("web-", i)
		c.pod(pod)
		pods = append(pods, pod)
	}
	for i, pod := range pods {
		if &pod.Spec.Containers[0] != &pods[0].Spec.Containers[0] {
			t.Errorf("pod %d has containers of its own", i)
		}
		if got, want := pod.Labels[corev1.LabelTopologyZone], fmt.Sprint("zone-", i%3); got != want {
			t.Errorf("pod %d is in %s: want %s", i, got, want)
		}
		if reflect.ValueOf(pod.Labels).Pointer() != reflect.ValueOf(pods[i%3].Labels).Pointer() {
			t.Errorf("pod %d has labels of its own", i)
		}
		if want := fmt.Sprint("web-", i); pod.Spec.Hostname != want || pod.Spec.NodeName != fmt.Sprint("node-", i) {
			t.Errorf("pod %d is %s on %s: want its own names", i, pod.Spec.Hostname, pod.Spec.NodeName)
		}
	}
}

// Nodes of one kind share what they have room for and their images; another kind has
// its own.
func TestInternerOfMachines(t *testing.T) {
	node := func(kind, cpu string) *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: kind + cpu, Labels: map[string]string{corev1.LabelInstanceTypeStable: kind}},
			Status: corev1.NodeStatus{
				Capacity:    corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")},
				Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
				Images:      []corev1.ContainerImage{{Names: []string{"web:1"}, SizeBytes: int64(len(kind))}},
			},
		}
	}
	var c interner
	nodes := []*corev1.Node{node("a", "7"), node("a", "7"), node("a", "6"), node("bb", "7")}
	for _, n := range nodes {
		c.node(n)
	}
	for i, want := range []*corev1.Node{node("a", "7"), node("a", "7"), node("a", "6"), node("bb", "7")} {
		if !apiequality.Semantic.DeepEqual(nodes[i], want) {
			t.Errorf("node %d has become %+v: want it as it was", i, nodes[i])
		}
	}
	at := func(list corev1.ResourceList) uintptr { return reflect.ValueOf(list).Pointer() }
	first, second := nodes[0].Status, nodes[1].Status
	if at(first.Capacity) != at(second.Capacity) || at(first.Allocatable) != at(second.Allocatable) || &first.Images[0] != &second.Images[0] {
		t.Error("two nodes that are alike have lists of their own")
	}
	if at(nodes[2].Status.Capacity) != at(first.Capacity) {
		t.Error("a node that differs in what is allocatable has a capacity of its own")
	}
}

// A pod that was changed in place shares nothing with what it was.
func TestInternerOfAChange(t *testing.T) {
	var c interner
	before, after := commonPod(0), commonPod(0)
	after.Spec.Tolerations = append(after.Spec.Tolerations, corev1.Toleration{Key: "b"})
	c.pod(before)
	c.pod(after)
	if len(before.Spec.Tolerations) != 1 || len(after.Spec.Tolerations) != 2 {
		t.Errorf("%d and %d tolerations: want 1 and 2", len(before.Spec.Tolerations), len(after.Spec.Tolerations))
	}
}

// The words of nodes are shared, and say what they said.
func TestInternerOfNodes(t *testing.T) {
	node := func() *corev1.Node {
		text := func(s string) string { return string([]byte(s)) } // of its own
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{text("kubernetes.io/os"): text("linux")}},
			Status: corev1.NodeStatus{
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: text("KubeletReady"), Message: text("kubelet is posting ready status")}},
				Images:     []corev1.ContainerImage{{Names: []string{text("web:1")}, SizeBytes: 1}},
				NodeInfo:   corev1.NodeSystemInfo{OSImage: text("Amazon Linux 2023"), BootID: text("b")},
			},
		}
	}
	var c interner
	one, other := node(), node()
	c.node(one)
	c.node(other)
	for _, n := range []*corev1.Node{one, other} {
		if !apiequality.Semantic.DeepEqual(n, node()) {
			t.Errorf("the node has become %+v: want it as it was", n)
		}
	}
	if a, b := one.Status.Images[0].Names[0], other.Status.Images[0].Names[0]; unsafe.StringData(a) != unsafe.StringData(b) {
		t.Error("two nodes have the name of an image each: want one")
	}
}
