package live

import (
	"fmt"
	"testing"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
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
func TestCommons(t *testing.T) {
	var c commons
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

// A pod that was changed in place shares nothing with what it was.
func TestCommonsOfAChange(t *testing.T) {
	var c commons
	before, after := commonPod(0), commonPod(0)
	after.Spec.Tolerations = append(after.Spec.Tolerations, corev1.Toleration{Key: "b"})
	c.pod(before)
	c.pod(after)
	if len(before.Spec.Tolerations) != 1 || len(after.Spec.Tolerations) != 2 {
		t.Errorf("%d and %d tolerations: want 1 and 2", len(before.Spec.Tolerations), len(after.Spec.Tolerations))
	}
}

// The words of nodes are shared, and say what they said.
func TestCommonsOfNodes(t *testing.T) {
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
	var c commons
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
