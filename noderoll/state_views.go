package noderoll

import (
	"slices"
	"strings"
	"time"
)

// views keeps the views of the group's nodes sorted by name, so that a Snapshot
// is one copy. Changes are noted and carried in when a caller looks: a few one
// by one, many by building the slice again.
type views struct {
	sorted  []NodeView
	pending []*nodeRec
	rebuild bool
}

// pendingMax bounds the notes: beyond it, rebuilding is cheaper, and a
// reader that never looks costs nothing.
const pendingMax = 32

func (v *views) touch(rec *nodeRec) {
	if v.rebuild {
		return
	}
	if len(v.pending) == pendingMax {
		v.rebuild = true
		v.pending = v.pending[:0]
		return
	}
	v.pending = append(v.pending, rec)
}

func byName(v NodeView, name string) int { return strings.Compare(v.Name, name) }

// flush makes sorted true. A record may have been noted several times, or be of
// a node that is gone; records are looked up again by name, since a forgotten
// one may have had a successor.
func (v *views) flush(nodes map[string]*nodeRec) {
	if v.rebuild {
		v.sorted = v.sorted[:0]
		for _, rec := range nodes {
			if rec.present {
				v.sorted = append(v.sorted, rec.view)
			}
		}
		slices.SortFunc(v.sorted, func(a, b NodeView) int { return strings.Compare(a.Name, b.Name) })
		v.rebuild = false
		return
	}
	for i, rec := range v.pending {
		v.pending[i] = nil
		at, found := slices.BinarySearchFunc(v.sorted, rec.name, byName)
		switch now := nodes[rec.name]; {
		case now != nil && now.present && found:
			v.sorted[at] = now.view
		case now != nil && now.present:
			v.sorted = slices.Insert(v.sorted, at, now.view)
		case found:
			v.sorted = slices.Delete(v.sorted, at, at+1)
		}
	}
	v.pending = v.pending[:0]
}

// Snapshot returns the group as it is; now only decides which Warnings are
// still recent. The slices belong to the caller.
func (s *State) Snapshot(now time.Time) Snapshot {
	var out Snapshot
	s.views.flush(s.nodes)
	out.Nodes = append(make([]NodeView, 0, len(s.views.sorted)), s.views.sorted...)
	s.count.fill(&out)
	for i := range out.Nodes {
		if v := &out.Nodes[i]; v.Phase == PhaseDraining {
			if first, _ := s.nodes[v.Name].obstacle(); first != nil {
				v.HeldBy = first.Namespace + "/" + first.Name
			}
		}
	}
	if s.podsError != "" && s.count.draining > 0 {
		out.PodsError = s.podsError
	}
	out.Warnings = slices.Clone(s.warnings(now))
	if s.roll != nil {
		s.roll.snapshot(&out)
	}
	return out
}
