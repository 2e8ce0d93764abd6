package invariant

import "testing"

// A long list is searched as a short one is, and each element looked at once.
func TestIndexFindsTheFirst(t *testing.T) {
	for _, n := range []int{0, 1, fewIndexed, fewIndexed + 1, 1000} {
		list := make([]int, n)
		for i := range list {
			list[i] = i / 2
		}
		looks := 0
		x := indexed(list, func(v *int) int { looks++; return *v })
		for i := range list {
			if got := x.find(list[i]); got != &list[i/2*2] {
				t.Fatalf("%d elements: %d is found at another place than %d", n, list[i], i/2*2)
			}
		}
		if x.find(n) != nil {
			t.Errorf("%d elements: %d is found", n, n)
		}
		if most := n * (fewIndexed + 1); looks > most || n > fewIndexed && looks != n {
			t.Errorf("%d elements: %d looks", n, looks)
		}
	}
}
