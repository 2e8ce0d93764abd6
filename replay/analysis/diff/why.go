package diff

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// mostReasons of a row are kept: what comes after them explains little.
const mostReasons = 3

// cause is what something waited for, as both sides have it.
type cause struct{ kind, object string }

// waits adds up what a node waited for in a phase.
func (s *side) waits(to map[cause]time.Duration, n *analysis.Node, phase analysis.Phase) {
	if n == nil {
		return
	}
	for _, w := range n.Waits {
		if w.Phase != phase {
			continue
		}
		object := ""
		if w.Object != "Node/"+n.Name { // that it waits for itself says nothing
			object = s.object(w.Object)
		}
		to[cause{string(w.Kind), object}] += w.Duration
	}
}

// found adds up by how much findings made rolls longer, and apart from it how long those that made none longer lasted. The first
// of those that are added up stands for them.
func (s *side) found() (all map[string]measures, first map[string]int) {
	all, first = map[string]measures{}, map[string]int{}
	for i, f := range s.Findings {
		object := s.object(f.Object)
		if object == "" && f.Node != "" {
			object = s.object("Node/" + f.Node)
		}
		label, measure := strings.TrimSpace(string(f.Kind)+" "+object), "lasts"
		if f.Delays {
			measure = "delays"
		}
		if all[label] == nil {
			all[label], first[label] = measures{}, i
		}
		all[label][measure] = duration(all[label][measure].Duration + f.Cost)
	}
	return all, first
}

// savings are the waits that made a roll longer, and by how much.
func (s *side) savings(r *analysis.Roll) map[cause]time.Duration {
	all := map[cause]time.Duration{}
	if r != nil {
		for _, v := range r.Savings {
			all[cause{string(v.Wait), s.object(v.Object)}] += v.Saves
		}
	}
	return all
}

// reasons are the causes that changed in the direction of a change, the largest first.
func reasons(a, b map[cause]time.Duration, delta time.Duration) []Reason {
	var all []Reason
	add := func(of cause) {
		r := Reason{Kind: of.kind, Object: of.object, A: a[of], B: b[of]}
		if d := r.Delta(); d > 0 && delta > 0 || d < 0 && delta < 0 {
			all = append(all, r)
		}
	}
	for of := range a {
		add(of)
	}
	for of := range b {
		if _, twice := a[of]; !twice {
			add(of)
		}
	}
	slices.SortFunc(all, func(x, y Reason) int {
		return cmp.Or(-cmp.Compare(x.Delta().Abs(), y.Delta().Abs()), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Object, y.Object))
	})
	return all[:min(len(all), mostReasons)]
}
