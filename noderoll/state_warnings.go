package noderoll

import (
	"cmp"
	"slices"
	"time"
)

// warningIndex holds the Warnings that may concern a node of the group, and the list
// that a Snapshot shows, as long as it is true.
type warningIndex struct {
	records map[podKey]*warnRec
	byNode  map[string]map[*warnRec]struct{}

	dirty    bool
	list     []WarnEvent
	madeAt   time.Time
	goodTill time.Time // the first of list grows stale after this; zero: never
}

type warnRec struct {
	EventRecord
	object string
	at     time.Duration // when a Feed saw it
	shown  bool          // a Feed has shown it
}

func newWarningIndex() warningIndex {
	return warningIndex{records: make(map[podKey]*warnRec), byNode: make(map[string]map[*warnRec]struct{})}
}

// SetEvent adds an Event or replaces what was known of it. Only Warnings that
// name a node, or were sent from one, are kept.
func (s *State) SetEvent(e EventRecord) { s.setEvent(&e) }

// setEvent returns the record if the Event is kept.
func (s *State) setEvent(e *EventRecord) *warnRec {
	w := &s.warns
	key := podKey{e.Namespace, e.Name}
	old := w.records[key]
	if !e.Warning() || e.Node() == "" {
		if old != nil {
			s.DeleteEvent(e.Namespace, e.Name)
		}
		return nil
	}
	rec := &warnRec{EventRecord: *e, object: e.Object()}
	if old != nil {
		if old.UID == e.UID && old.Message == e.Message {
			rec.shown, rec.at = old.shown, old.at
		}
		w.unlink(old)
	}
	w.records[key] = rec
	w.link(rec)
	w.dirty = true
	return rec
}

// DeleteEvent removes an Event.
func (s *State) DeleteEvent(namespace, name string) {
	key := podKey{namespace, name}
	if rec := s.warns.records[key]; rec != nil {
		s.warns.unlink(rec)
		delete(s.warns.records, key)
		s.warns.dirty = true
	}
}

// names are the nodes that the Event may belong to, the best one first.
func (r *warnRec) names() [2]string {
	about := r.Node()
	if r.Host == about {
		return [2]string{about}
	}
	return [2]string{about, r.Host}
}

func (w *warningIndex) link(r *warnRec) {
	for _, name := range r.names() {
		if name == "" {
			continue
		}
		if w.byNode[name] == nil {
			w.byNode[name] = make(map[*warnRec]struct{})
		}
		w.byNode[name][r] = struct{}{}
	}
}

func (w *warningIndex) unlink(r *warnRec) {
	for _, name := range r.names() {
		delete(w.byNode[name], r)
		if len(w.byNode[name]) == 0 {
			delete(w.byNode, name)
		}
	}
}

// warnedNode is the node of the group that a Warning belongs to, or "": the one
// that it is about, else the one that it came from.
func (s *State) warnedNode(r *warnRec) string {
	for _, name := range r.names() {
		if rec := s.nodes[name]; rec != nil && rec.present {
			return name
		}
	}
	return ""
}

// warnings lists the Warnings of the group that are at most a window old at now:
// one for each node, object and reason, the latest of them. An Event without a
// time never grows old.
func (s *State) warnings(now time.Time) []WarnEvent {
	w := &s.warns
	if !w.dirty && !now.Before(w.madeAt) && (w.goodTill.IsZero() || !now.After(w.goodTill)) {
		return w.list
	}
	type found struct {
		WarnEvent
		rec *warnRec
	}
	var all []found
	w.goodTill = time.Time{}
	for name, recs := range w.byNode {
		if rec := s.nodes[name]; rec == nil || !rec.present {
			continue
		}
		for r := range recs {
			if s.warnedNode(r) != name {
				continue
			}
			if !r.Time.IsZero() {
				if now.Sub(r.Time) > s.opts.WarningWindow {
					continue
				}
				if till := r.Time.Add(s.opts.WarningWindow); w.goodTill.IsZero() || till.Before(w.goodTill) {
					w.goodTill = till
				}
			}
			all = append(all, found{WarnEvent{name, r.object, r.Reason, r.Message}, r})
		}
	}
	same := func(a, b found) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Object, b.Object))
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(same(a, b), b.rec.Time.Compare(a.rec.Time),
			cmp.Compare(a.rec.Namespace, b.rec.Namespace), cmp.Compare(a.rec.Name, b.rec.Name))
	})
	all = slices.CompactFunc(all, func(a, b found) bool { return same(a, b) == 0 })
	w.list = nil
	for _, f := range all {
		w.list = append(w.list, f.WarnEvent)
	}
	w.dirty, w.madeAt = false, now
	return w.list
}
