package noderoll_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/noderoll"
)

// Budgets that ask for no label value would be compared with every label set: beyond
// 128 comparisons a change, those of the namespace don't count, and the Snapshot says so.
func TestTooManyBudgetsOfAll(t *testing.T) {
	s := noderoll.NewState(noderoll.StateOptions{})
	n := feedNode("n", oldImage)
	n.Unschedulable = true
	s.SetNode(n)
	s.SetPodsError("")
	pods := func(namespace string, count int) {
		for i := range count {
			s.SetPod(noderoll.Pod{Namespace: namespace, Name: fmt.Sprint("p", i), Node: "n", Ready: true, Phase: "Running", Labels: map[string]string{"a": fmt.Sprint(i)}})
		}
	}
	budget := func(namespace string, i int) {
		s.SetBudget(noderoll.Budget{Namespace: namespace, Name: fmt.Sprint("b", i), Selector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: fmt.Sprint("k", i), Operator: metav1.LabelSelectorOpDoesNotExist}},
		}})
	}
	pods("crowded", 1000)
	for i := range 100 {
		budget("crowded", i)
	}
	snap := s.Snapshot(epoch)
	if snap.Nodes[0].HeldBy != "crowded/b0" || snap.BudgetsError != "" {
		t.Fatalf("100 budgets of 1000 label sets: held by %q, error %q", snap.Nodes[0].HeldBy, snap.BudgetsError)
	}
	for i := 100; i < 1000; i++ {
		budget("crowded", i)
	}
	snap = s.Snapshot(epoch)
	if snap.Nodes[0].HeldBy != "" || !strings.Contains(snap.BudgetsError, `namespace "crowded"`) {
		t.Errorf("1000 budgets of 1000 label sets: held by %q, error %q", snap.Nodes[0].HeldBy, snap.BudgetsError)
	}
	for i := range 1000 {
		s.DeletePod("crowded", fmt.Sprint("p", i), "")
		s.DeleteBudget("crowded", fmt.Sprint("b", i))
	}
	pods("other", 2)
	budget("other", 0)
	if got := s.Snapshot(epoch).Nodes[0].HeldBy; got != "other/b0" {
		t.Errorf("a budget of another namespace: held by %q", got)
	}
}
