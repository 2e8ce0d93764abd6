package tapediff

import (
	"maps"
	"slices"
	"time"
)

// forget makes what has happened so far the state in which the story begins, as if the tape began at that position
// with a list of what is there.
func (in *reading) forget(from time.Duration) {
	in.from, in.before = 0, in.before+len(in.events)
	in.events, in.order = nil, newHistory("roll", "", "", "", from)
	in.nodes, in.pods = alive(in.nodes), alive(in.pods)
	in.budgets = alive(in.budgets)
	for _, h := range slices.Concat(in.nodes, in.pods, in.budgets) {
		then := h.now
		h.there, h.chapter, h.chapters, h.now = true, "", map[string]map[string][]Step{}, map[string]facts{}
		h.at, h.last = from, from
		if h.pod != nil {
			h.pod = &podHistory{workload: h.pod.workload, fate: h.pod.fate, passed: h.pod.passed, began: true, ended: h.pod.ended, ends: h.pod.ends}
			h.chapter = run
			if h.pod.ended {
				h.chapter = end
			}
		}
		for _, track := range slices.Sorted(maps.Keys(then)) {
			h.write(track, from, then[track])
		}
		h.together(from)
	}
	for _, h := range in.budgets {
		in.tellBudget(h, from)
	}
	in.tellBlocking(from)
}

// alive leaves out what is gone.
func alive(list []*history) []*history {
	return slices.DeleteFunc(slices.Clone(list), func(h *history) bool { return h.gone })
}
