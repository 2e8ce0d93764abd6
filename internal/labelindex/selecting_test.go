package labelindex

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// What matches is found, once, from either side; and of what asks for values
// little else is.
func TestWhatMatchesIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	pods, found := ByLabel[int]{}, NewSelecting[int]()
	sets, selectors := map[int]map[string]string{}, map[int]labels.Selector{}
	some := func(n int) map[string]string {
		set := map[string]string{}
		for range r.IntN(n) {
			set[fmt.Sprint("k", r.IntN(3))] = fmt.Sprint("v", r.IntN(4))
		}
		return set
	}
	matched := 0
	for i := range 2000 {
		id := r.IntN(40)
		if set, ok := sets[id]; ok {
			pods.Remove(id, set)
			found.Remove(id)
			delete(sets, id)
			delete(selectors, id)
			continue
		}
		ask := &metav1.LabelSelector{MatchLabels: some(3)}
		switch i % 5 {
		case 1:
			ask = nil
		case 2:
			ask.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "k0", Operator: metav1.LabelSelectorOpIn, Values: []string{"v0", "v1"}}}
		case 3:
			ask.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "k1", Operator: metav1.LabelSelectorOpDoesNotExist}}
		}
		selector, err := metav1.LabelSelectorAsSelector(ask)
		if err != nil {
			t.Fatal(err)
		}
		sets[id], selectors[id] = some(4), selector
		pods.Add(id, sets[id])
		found.Add(id, selector)
		if found.Size() != len(selectors) {
			t.Fatalf("%d selectors: want %d", found.Size(), len(selectors))
		}
		for id, set := range sets {
			bySet, bySelector := map[int]int{}, map[int]int{}
			for other := range found.MayMatch(set) {
				bySet[other]++
			}
			for other := range pods.MayMatch(selectors[id], maps.Keys(sets)) {
				bySelector[other]++
			}
			for other := range sets {
				forth, back := selectors[other].Matches(labels.Set(set)), selectors[id].Matches(labels.Set(sets[other]))
				if forth {
					matched++
				}
				if forth && bySet[other] != 1 || back && bySelector[other] != 1 || bySet[other] > 1 || bySelector[other] > 1 {
					t.Fatalf("%v of %v was found %d times; %v of %v %d times", selectors[other], set, bySet[other], selectors[id], sets[other], bySelector[other])
				}
			}
		}
	}
	if matched < 1000 {
		t.Errorf("only %d matched: the trial says little", matched)
	}
	if pods, _ := pods.needs(labels.Nothing()); len(pods) != 0 {
		t.Errorf("nothing needs %v", pods)
	}
}
