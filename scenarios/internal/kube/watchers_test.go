package kube_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// A watch of some names is told in its turn, of what it follows, as often as the others.
func TestWatchesThatFollowNames(t *testing.T) {
	r := newRig(t)
	var told []string
	tell := func(who string) func(kube.Change, *kube.Node, *kube.Node) {
		return func(_ kube.Change, _, n *kube.Node) { told = append(told, who+" "+n.Name) }
	}
	early := r.WatchNodesNamed(tell("early"))
	r.WatchNodes(tell("all"))
	late := r.WatchNodesNamed(tell("late"))
	r.WatchNodes(tell("last"))
	late.Follow("a")
	late.Follow("b")
	early.Follow("a")
	late.Drop("b")
	early.Drop("c")
	kube.Watch{}.Follow("a")
	for _, name := range []string{"a", "b"} {
		r.SeedNode(&kube.Node{Meta: kube.Meta{Name: name}})
	}
	early.Drop("a")
	r.DeleteNode(r.Node("a"))
	want := []string{"early a", "all a", "late a", "last a", "all b", "last b", "all a", "late a", "last a"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Who walks along the nodes isn't disturbed by those that come and go meanwhile, and the next one sees them.
func TestNodesKeepTheirOrder(t *testing.T) {
	r := newRig(t)
	var want []string
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		name := fmt.Sprint("n", i)
		r.SeedNode(&kube.Node{Meta: kube.Meta{Name: name}})
		want = append(want, name)
		before := r.Nodes()
		names := slices.Clone(want)
		for range rng.IntN(3) {
			if k := rng.IntN(len(want) + 1); k < len(want) {
				r.DeleteNode(r.Node(want[k]))
				want = slices.Delete(want, k, k+1)
			}
		}
		for k, n := range before {
			if n.Name != names[k] {
				t.Fatalf("the old list has %s at %d, want %s", n.Name, k, names[k])
			}
		}
		if i%7 > 0 {
			continue
		}
		var got []string
		for _, n := range r.Nodes() {
			got = append(got, n.Name)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d: found %v, want %v", i, got, want)
		}
	}
	if r.err != nil {
		t.Error(r.err)
	}
}

// However many budgets there are, those that cover a pod are found as if each was asked.
func TestBudgetsOfAPod(t *testing.T) {
	r := newRig(t)
	rng := rand.New(rand.NewPCG(3, 4))
	pairs := func(most int) kube.Pairs {
		var some kube.Pairs
		for range rng.IntN(most + 1) {
			some = some.With(fmt.Sprint("k", rng.IntN(3)), fmt.Sprint(rng.IntN(3)))
		}
		return some
	}
	covered := 0
	for i := range 300 {
		switch all := r.Budgets(); rng.IntN(4) {
		case 0:
			if len(all) > 0 {
				r.DeleteBudget(all[rng.IntN(len(all))])
			}
		case 1:
			if len(all) > 0 {
				r.UpdateBudget(all[rng.IntN(len(all))], func(b *kube.Budget) { b.Selector = pairs(2) })
			}
		default:
			b := &kube.Budget{Meta: kube.Meta{Namespace: "shop", Name: fmt.Sprint("b", i)}, MaxUnavailable: "1", Selector: pairs(2)}
			if err := r.CreateBudget(b); err != nil {
				t.Fatal(err)
			}
		}
		p := &kube.Pod{Meta: kube.Meta{Namespace: "shop", Name: "p", Labels: pairs(4)}}
		var want []*kube.Budget
		for _, b := range r.Budgets() {
			if b.Covers(p) {
				want = append(want, b)
			}
		}
		if !slices.Equal(r.BudgetsOf(p), want) {
			t.Fatalf("%d: found %d budgets of a pod with %v, want %d", i, len(r.BudgetsOf(p)), p.Labels, len(want))
		}
		covered += len(want)
	}
	if covered == 0 || r.err != nil {
		t.Errorf("%d budgets covered a pod: %v", covered, r.err)
	}
}
