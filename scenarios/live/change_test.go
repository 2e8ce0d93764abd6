package live

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/google/go-cmp/cmp"
)

func tainted(taints ...corev1.Taint) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "u1", ResourceVersion: "7"}, Spec: corev1.NodeSpec{Taints: taints}}
}

var (
	uninitialized = corev1.Taint{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule}
	notReady      = corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	disrupted     = corev1.Taint{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule}
)

// A controller that takes its taint away and adds one leaves those of others.
func TestTaintsOfOthersStay(t *testing.T) {
	old, new := tainted(uninitialized), tainted(disrupted)
	live := tainted(notReady, uninitialized)
	patch, err := patchNode(old, new, live)
	if err != nil {
		t.Fatal(err)
	}
	got := applied(t, live, patch)
	if d := cmp.Diff([]corev1.Taint{notReady, disrupted}, got.Spec.Taints); d != "" {
		t.Errorf("taints (-want +got):\n%s", d)
	}
	var body struct{ Metadata metav1.ObjectMeta }
	if err := json.Unmarshal(patch, &body); err != nil {
		t.Fatal(err)
	}
	if body.Metadata.UID != "u1" || body.Metadata.ResourceVersion != "7" {
		t.Errorf("the patch is for UID %q, version %q: want u1, 7", body.Metadata.UID, body.Metadata.ResourceVersion)
	}
}

// A cordon, labels and finalizers need no look at the server and no version.
func TestPatchWithoutTaints(t *testing.T) {
	old, new, live := tainted(uninitialized), tainted(uninitialized), tainted(notReady)
	old.Labels = map[string]string{"a": "1", "b": "2"}
	new.Labels, new.Finalizers, new.Spec.Unschedulable = map[string]string{"a": "1"}, []string{"karpenter.sh/termination"}, true
	live.Labels, live.Finalizers = map[string]string{"a": "1", "b": "2", "c": "3"}, []string{"other/one"}
	patch, err := patchNode(old, new, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := applied(t, live, patch)
	if d := cmp.Diff(map[string]string{"a": "1", "c": "3"}, got.Labels); d != "" {
		t.Errorf("labels (-want +got):\n%s", d)
	}
	if len(got.Finalizers) != 2 || !got.Spec.Unschedulable || len(got.Spec.Taints) != 1 {
		t.Errorf("finalizers %v, unschedulable %t, taints %v: want both finalizers, a cordon, the taint of others",
			got.Finalizers, got.Spec.Unschedulable, got.Spec.Taints)
	}
	if none, err := patchNode(old, old, nil); err != nil || none != nil {
		t.Errorf("no change gives the patch %s, error %v", none, err)
	}
}

func applied(t *testing.T, live *corev1.Node, patch []byte) *corev1.Node {
	t.Helper()
	raw, err := json.Marshal(live)
	if err != nil {
		t.Fatal(err)
	}
	raw, err = strategicpatch.StrategicMergePatch(raw, patch, &corev1.Node{})
	if err != nil {
		t.Fatal(err)
	}
	var got corev1.Node
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	return &got
}
