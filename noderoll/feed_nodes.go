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
	f.drainBegun(rec)
	if !known {
		f.warnLate(rec)
	}
}

// emitTransition tells of a node's transition; of one that is cordoned as long as
// nobody drains it, draining waits.
func (f *Feed) emitTransition(rec *nodeRec, kind EventKind) {
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
