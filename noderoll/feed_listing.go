package noderoll

import (
	"maps"
	"slices"
	"strings"
)

// touched is what changed while nodes were listed again: what the end of the
// list has to look at, so that a gap costs what it touches and not what there is.
type touched struct {
	nodes map[string]struct{}
	pools map[*pool]struct{}
}

func (t *touched) node(name string) {
	if t.nodes == nil {
		t.nodes = make(map[string]struct{})
	}
	t.nodes[name] = struct{}{}
}

func (t *touched) pool(p *pool) {
	if t.pools == nil {
		t.pools = make(map[*pool]struct{})
	}
	t.pools[p] = struct{}{}
}

// warning notes the nodes that a Warning may belong to.
func (t *touched) warning(r *warnRec) {
	for _, name := range r.names() {
		if name != "" {
			t.node(name)
		}
	}
}

// settleNodes ends a list of nodes.
func (f *Feed) settleNodes() {
	if f.nodesSettled {
		return
	}
	f.nodesSettled = true
	if f.phases.seeded {
		f.settleTouched()
	} else {
		f.settleFirst()
	}
	f.touched = touched{}
}

// settleFirst ends the first list: what it has found is where the feed begins.
func (f *Feed) settleFirst() {
	s := f.state
	f.seeding = true
	if s.target.auto {
		s.CaptureBaseline()
	}
	s.views.flush(s.nodes)
	f.phases.observe(s.views.sorted, func(string, string, EventKind) {}) // the first only remembers
	for i := range s.views.sorted {
		rec := s.nodes[s.views.sorted[i].Name]
		rec.feed.pressure, rec.feed.cordoned = rec.pressure, rec.view.Cordoned
		f.warnLate(rec)
		s.notePool(rec.pool)
	}
}

// settleTouched ends a further list: by name, the nodes that are there, then
// those that are gone, then what else there is to tell of the former.
func (f *Feed) settleTouched() {
	s := f.state
	names := slices.Sorted(maps.Keys(f.touched.nodes))
	for _, name := range names {
		rec := s.nodes[name]
		if rec == nil || !rec.present {
			continue
		}
		for _, kind := range f.phases.set(&rec.view) {
			if kind == EvtTerminated { // a node of the same name has come for it
				f.settled(Entry{Kind: kind, Node: name})
			} else if kind != "" && s.roll == nil {
				f.emitTransition(rec, kind)
			}
		}
	}
	for _, name := range names {
		if rec := s.nodes[name]; rec != nil && rec.present {
			continue
		}
		if _, gone := f.phases.remove(name); gone {
			f.settled(Entry{Kind: EvtTerminated, Node: name})
		}
	}
	for _, name := range names {
		rec := s.nodes[name]
		if rec == nil || !rec.present {
			continue
		}
		if s.roll == nil {
			f.drainBegun(rec)
			f.pressure(rec)
		}
		f.warnLate(rec)
	}
	for _, p := range slices.SortedFunc(maps.Keys(f.touched.pools), func(a, b *pool) int { return strings.Compare(a.name, b.name) }) {
		s.notePool(p)
	}
}

// settled emits an entry of a node, which a roll of pods doesn't tell.
func (f *Feed) settled(e Entry) {
	if f.state.roll == nil {
		f.emit(e)
	}
}
