package noderoll

import (
	"math/rand/v2"
	"testing"
)

// The images that a State counts are those that its nodes have, whatever has
// become of them.
func TestImagesAreThoseOfMostNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := NewState(StateOptions{Target: Target{Image: "v9"}})
	seen := 0
	for range 5000 {
		name := "n" + string(rune('a'+r.IntN(12)))
		if r.IntN(4) == 0 {
			s.DeleteNode(name, "")
		} else {
			s.SetNode(Node{Name: name, UID: name, KubeletVersion: []string{"", "v1", "v2", "v9"}[r.IntN(4)], Ready: "True"})
		}
		old, young := map[string]int{}, map[string]int{}
		for _, rec := range s.nodes {
			if !rec.present {
				continue
			}
			if rec.view.OnTarget {
				young[rec.view.Image]++
			} else {
				old[rec.view.Image]++
			}
		}
		gotOld, gotYoung := s.Images()
		if gotOld != mostOf(old) || gotYoung != mostOf(young) {
			t.Fatalf("found %q, %q of %v, %v", gotOld, gotYoung, old, young)
		}
		if gotOld != "" && gotYoung != "" {
			seen++
		}
	}
	if seen < 1000 {
		t.Errorf("only %d of 5000 states had old and new nodes: the trial says little", seen)
	}
}

// mostOf is the naive way.
func mostOf(count map[string]int) (best string) {
	for image, n := range count {
		if image != "" && (best == "" || n > count[best] || n == count[best] && image < best) {
			best = image
		}
	}
	return best
}
