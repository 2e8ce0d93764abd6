package noderoll_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/nodesim/nodesim/noderoll"
)

const (
	group    = "workers"
	oldImage = "ami-0a1b"
	newImage = "ami-0f9e"
)

// kubeNode is a Node of the group.
func kubeNode(name, image string, ready bool) *corev1.Node {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("uid-" + name),
			Labels: map[string]string{noderoll.LabelNodegroup: group, noderoll.LabelImage: image},
		},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}},
	}
}

func cordoned(n *corev1.Node) *corev1.Node {
	n.Spec.Unschedulable = true
	return n
}

func kubePod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)},
		Spec:       corev1.PodSpec{NodeName: node},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// podsOfEveryKind are three pods that a drain of ip-1 has to move, and all kinds
// that it doesn't.
func podsOfEveryKind() []runtime.Object {
	daemon, done, static := kubePod("daemon", "ip-1"), kubePod("done", "ip-1"), kubePod("static", "ip-1")
	daemon.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "d"}}
	done.Status.Phase = corev1.PodSucceeded
	static.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	return []runtime.Object{kubePod("web-1", "ip-1"), kubePod("web-2", "ip-1"), kubePod("web-3", "ip-1"),
		daemon, done, static, kubePod("elsewhere", "ip-2")}
}

// warning is a Warning about a node, so long before now.
func warning(name, node, reason, message string, age time.Duration) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "default", Name: name},
		Type:           corev1.EventTypeWarning,
		InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: node},
		Reason:         reason, Message: message,
		LastTimestamp: metav1.NewTime(time.Now().Add(-age)),
	}
}

func look(t *testing.T, o noderoll.Observer) noderoll.Snapshot {
	t.Helper()
	s, err := o.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// eventually looks until the snapshot is as wanted.
func eventually(t *testing.T, o noderoll.Observer, what string, want func(noderoll.Snapshot) bool) noderoll.Snapshot {
	t.Helper()
	var last noderoll.Snapshot
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		var err error
		last, err = o.Snapshot(ctx)
		return want(last), err
	})
	if err != nil {
		t.Fatalf("%s: %v; last seen: %s", what, err, brief(last))
	}
	return last
}

// counts is Total, ReadyTarget, Draining, Joining.
func counts(s noderoll.Snapshot) [4]int {
	return [4]int{s.Total, s.ReadyTarget, s.Draining, s.Joining}
}

func brief(s noderoll.Snapshot) string {
	out := fmt.Sprint(counts(s))
	for _, v := range s.Nodes {
		out += fmt.Sprintf(" %s=%s,%d/%d", v.Name, v.Phase, v.Pods, v.PodsTotal)
		if v.PodsUnknown {
			out += "?"
		}
	}
	return out
}

func update(t *testing.T, c *fake.Clientset, n *corev1.Node) {
	t.Helper()
	if _, err := c.CoreV1().Nodes().Update(t.Context(), n, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, c *fake.Clientset, n *corev1.Node) {
	t.Helper()
	if _, err := c.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func deleteNode(t *testing.T, c *fake.Clientset, name string) {
	t.Helper()
	if err := c.CoreV1().Nodes().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func deletePod(t *testing.T, c *fake.Clientset, name string) {
	t.Helper()
	if err := c.CoreV1().Pods("shop").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
