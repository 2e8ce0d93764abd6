package noderoll

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// transition is one observation of one node.
func (f *Feed) transition(rec *nodeRec) {
	if !rec.present {
		if _, gone := f.phases.remove(rec.name); gone {
			f.emit(Entry{Kind: EvtTerminated, Node: rec.name})
		}
		return
	}
	_, known := f.phases.find(rec.name)
	for _, kind := range f.phases.set(&rec.view) {
		if kind != "" {
			f.emitTransition(rec, kind)
		}
	}
	f.drainBegun(rec)
	if !known {
		f.warnLate(rec)
	}
}

// emitTransition tells of a node's transition; of one that is cordoned as long as
// nobody drains it, draining waits. A machine says that it drains its node before it
// cordons it: then the two come together.
func (f *Feed) emitTransition(rec *nodeRec, kind EventKind) {
	if kind == EvtDraining && rec.evicted == 0 && f.state.drainers[rec.name] > 0 {
		f.emit(Entry{Kind: EvtCordoned, Node: rec.name})
	}
	rec.feed.cordoned = kind == EvtDraining && rec.view.Cordoned
	if rec.feed.cordoned {
		kind = EvtCordoned
	}
	e := Entry{Kind: kind, Node: rec.name}
	if kind == EvtNotReady {
		e.Reason, e.Message = rec.reason, rec.message
	}
	f.emit(e)
}

// drainBegun tells that somebody drains a node that was told of as cordoned. What
// the first list of pods shows is no news.
func (f *Feed) drainBegun(rec *nodeRec) {
	if !rec.feed.cordoned || rec.view.Cordoned {
		return
	}
	rec.feed.cordoned = false
	if rec.view.Phase == PhaseDraining && !f.listingPods {
		f.emit(Entry{Kind: EvtDraining, Node: rec.name})
	}
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

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// warn emits a Warning if its node is in the group.
func (f *Feed) warn(r *warnRec) {
	node := f.state.warnedNode(r)
	if node == "" {
		return
	}
	r.shown = true
	f.emit(Entry{Kind: EvtWarning, Node: node, Object: r.path(), Reason: r.Reason, Message: r.Message})
}

// warnLateFor is the time a Warning waits for its node. A kubelet sends its
// first ones seconds before it creates the Node.
const warnLateFor = time.Minute

// warnLate emits the Warnings that came before their node.
func (f *Feed) warnLate(rec *nodeRec) {
	var late []*warnRec
	for r := range f.state.warns.byNode[rec.name] {
		if !r.shown && f.at-r.at <= warnLateFor {
			late = append(late, r)
		}
	}
	slices.SortFunc(late, func(a, b *warnRec) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, r := range late {
		f.warn(r)
	}
}
