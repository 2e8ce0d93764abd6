package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
)

// What a process goes on with is no longer ours: nothing of it may be removed. What
// --cleanup removes, two may remove.
func TestLeavesAloneWhatWasTakenOver(t *testing.T) {
	for by, left := range map[string]bool{"other:1:cafe": true, cleaner: false, "": false} {
		t.Run(by, func(t *testing.T) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", Labels: map[string]string{Label: "surge"}}}
			nodes := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, node)
			r := &run{
				Performer: &Performer{label: "surge", clock: clock.RealClock{}, leave: answerMost, warn: func(error) {}, tell: func(Progress) {}},
				clients:   &clients{kube: fake.NewClientset(), dynamic: nodes, close: func() {}},
			}
			if err := r.leaveBehind(t.Context(), fmt.Errorf("it ends: %w", &takenOverError{by})); err != nil {
				t.Fatal(err)
			}
			list, err := nodes.Resource(nodesResource).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if is := len(list.Items) == 1; is != left {
				t.Errorf("taken over by %q: the node is left: %v, want %v", by, is, left)
			}
		})
	}
}

// Who keeps things and was taken over doesn't write into another's record.
func TestNotesNothingInTheRecordOfAnother(t *testing.T) {
	record := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: RecordNamespace, Name: RecordName, Labels: map[string]string{Label: "surge"}},
		Data:       map[string]string{"scenario": "surge", "holder": "other:1:cafe"},
	}
	kube := fake.NewClientset(record)
	r := &run{Performer: &Performer{keep: true}, clients: &clients{kube: kube, close: func() {}}}
	if err := r.leaveBehind(t.Context(), &takenOverError{"other:1:cafe"}); err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for _, a := range kube.Actions() {
		verbs = append(verbs, a.GetVerb())
	}
	if slices.Contains(verbs, "update") {
		t.Errorf("the record is written to: %s", strings.Join(verbs, ", "))
	}
}
