package noderoll

import (
	"cmp"
	"fmt"
	"strings"
)

// transition is one observation of one node.
func (f *Feed) transition(rec *nodeRec) {
	if !rec.present {
		if _, gone := f.book.remove(rec.name); gone {
			f.emit(Entry{Kind: EvtTerminated, Node: rec.name})
		}
		return
	}
	_, known := f.book.find(rec.name)
	for _, kind := range f.book.set(&rec.view) {
		if kind != "" {
			f.emitTransition(rec, kind)
		}
	}
	if !known {
		f.warnLate(rec)
	}
}

func (f *Feed) emitTransition(rec *nodeRec, kind EventKind) {
	e := Entry{Kind: kind, Node: rec.name}
	if kind == EvtNotReady {
		e.Reason, e.Message = rec.reason, rec.message
	}
	f.emit(e)
}

// pressure emits a change of the pressure conditions.
func (f *Feed) pressure(rec *nodeRec) {
	if !rec.present || rec.feed.pressure == rec.pressure {
		return
	}
	rec.feed.pressure = rec.pressure
	reason := strings.Join(rec.pressure.Types(), ",")
	e := Entry{Kind: EvtPressure, Node: rec.name, Reason: cmp.Or(reason, "None")}
	f.emit(e)
}

// settleNodes ends a list of nodes.
func (f *Feed) settleNodes() {
	if f.nodesSettled {
		return
	}
	s := f.state
	first := !f.book.seeded
	if first && s.target.auto {
		s.CaptureBaseline()
	}
	s.views.flush(s.nodes)
	f.book.observe(s.views.sorted, func(node, _ string, kind EventKind) {
		if s.roll != nil {
			return // told of pods alone
		}
		if rec := s.nodes[node]; rec != nil && kind != EvtTerminated {
			f.emitTransition(rec, kind)
			return
		}
		f.emit(Entry{Kind: kind, Node: node})
	})
	f.nodesSettled = true
	for i := range s.views.sorted {
		rec := s.nodes[s.views.sorted[i].Name]
		if first {
			rec.feed.pressure = rec.pressure
		}
		if s.roll == nil {
			f.pressure(rec)
		}
		f.warnLate(rec)
		s.notePool(rec.pool)
	}
}

// progress looks whether a pool's roll has begun, or is over.
func (f *Feed) progress(p *pool) {
	c := &p.count
	if c.offTarget > 0 {
		if !p.rolling && (c.joining+c.draining > 0 || c.offTarget < c.total) {
			p.rolling, p.rolled = true, 0
			f.rolling++
		}
		return
	}
	if p.rolling && c.total > 0 && c.readyTarget == c.total {
		p.rolling, p.rolled = false, c.total
		if f.rolling--; f.rolling == 0 {
			f.complete()
		}
	}
}

// complete says that the last pool is through, and counts the nodes of all that
// rolled since none did.
func (f *Feed) complete() {
	nodes := 0
	for _, p := range f.state.pools {
		nodes += p.rolled
		p.rolled = 0
	}
	f.emit(Entry{Kind: EvtComplete, Message: count(nodes, "node") + " on target"})
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
