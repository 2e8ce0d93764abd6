package timeline

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// Selection chooses objects. Each field narrows it down; an empty one doesn't.
type Selection struct {
	// Resources holds words by which the tape names resources: "nodes" or
	// "poddisruptionbudgets.policy".
	Resources []string
	// Namespaces chooses among namespaced objects. The others have none and
	// are not chosen where it is set.
	Namespaces []string
	Names      []string
	// Labels chooses by the object's labels as they are at the event.
	Labels labels.Selector
}

// Filter keeps the objects that any of the selections chooses. Of the rest of
// the tape it keeps what is about all (MARK, END, unknown types without a
// resource) and what is about a resource of which the selections may choose
// something (SYNC, GAP, unknown types). The header lists only those resources.
//
// An object that comes to match a label selector is ADDED there, and DELETED,
// with its last state that matched and the version of the event, where it no
// longer does: as a watch with that selector sees it (convertToWatchEvent in
// k8s.io/apiserver/pkg/storage/cacher).
//
// Where the tape was written without a SYNC after an initial list, and the
// filter leaves something of it out, it puts one in.
//
// The header's scope takes up the labels chosen of nodes, where one selection
// alone chooses nodes.
func Filter(selections ...Selection) Transform {
	return func(h *Header, events iter.Seq2[Event, error]) (*Header, iter.Seq2[Event, error]) {
		for _, s := range selections {
			for _, key := range s.Resources {
				if _, ok := h.Lookup(key); !ok {
					return h, failed(fmt.Errorf("filter by resource %q: want one that the tape has: %s", key, h.keys()))
				}
			}
		}
		return filteredHeader(h, selections), recount(func(yield func(Event, error) bool) {
			f := filter{
				header: h, selections: selections,
				of: map[string][]Selection{}, chosen: map[filterKey]Event{}, lists: map[string]*openList{},
			}
			for ev, err := range edit(events, f.one) {
				if !yield(ev, err) {
					return
				}
			}
		})
	}
}

// keys lists the words by which events name the tape's resources.
func (h *Header) keys() string {
	words := make([]string, len(h.Resources))
	for i, r := range h.Resources {
		words[i] = h.Key(r)
	}
	return strings.Join(words, ", ")
}

func filteredHeader(h *Header, selections []Selection) *Header {
	out := *h
	out.Resources = slices.DeleteFunc(slices.Clone(h.Resources), func(r Resource) bool {
		return len(selectionsOf(h, h.Key(r), selections)) == 0
	})
	if nodes := selectionsOf(h, "nodes", selections); len(nodes) == 1 && nodes[0].Labels != nil && !nodes[0].Labels.Empty() {
		out.Scope.Selector = strings.Trim(h.Scope.Selector+","+nodes[0].Labels.String(), ",")
	}
	return &out
}

// selectionsOf returns those selections that may choose objects of a resource.
func selectionsOf(h *Header, key string, selections []Selection) []Selection {
	r, ok := h.Lookup(key)
	if !ok {
		return nil
	}
	var out []Selection
	for _, s := range selections {
		named := len(s.Resources) == 0 || slices.ContainsFunc(s.Resources, func(word string) bool {
			other, ok := h.Lookup(word)
			return ok && other == r
		})
		if named && (r.Namespaced || len(s.Namespaces) == 0) {
			out = append(out, s)
		}
	}
	return out
}

// filter is one run over a tape.
type filter struct {
	header     *Header
	selections []Selection
	of         map[string][]Selection // by the events' word for a resource
	chosen     map[filterKey]Event    // the last state of each living object that labels chose
	lists      map[string]*openList   // by the same word; nil once they have ended
	open       []*openList
}

// openList is an initial list that no SYNC has ended yet. Where a tape does
// without one, the list ends by itself, and what is left of it has to end too,
// or else the first object to come later would be taken for a list.
type openList struct {
	end   Event // the SYNC to write, at the list's time
	short bool  // something was left out
	done  bool
}

// endLists writes the SYNCs that are due before ev.
func (f *filter) endLists(ev Event, yield func(Event, error) bool) bool {
	kept := f.open[:0]
	for _, l := range f.open {
		same := l.end.Resource == ev.Resource
		switch {
		case same && ev.Type == Sync:
			l.done = true
		case ev.At > l.end.At || same && ev.Type != Added:
			l.done = true
			if l.short && !yield(l.end, nil) {
				return false
			}
		default:
			kept = append(kept, l)
		}
	}
	f.open = kept
	return true
}

// list takes note of an object event that may belong to an initial list.
func (f *filter) list(ev Event, kept bool) {
	l := f.lists[ev.Resource]
	if l == nil {
		l = &openList{end: Event{At: ev.At, Type: Sync, Resource: ev.Resource}}
		f.lists[ev.Resource] = l
		f.open = append(f.open, l)
	}
	if !l.done {
		l.end.RV = newer(l.end.RV, ev.RV)
		l.short = l.short || !kept
	}
}

type filterKey struct{ resource, namespace, name string }

func (f *filter) one(ev Event, yield func(Event, error) bool) bool {
	if !f.endLists(ev, yield) {
		return false
	}
	if ev.Resource == "" {
		return yield(ev, nil)
	}
	of, ok := f.of[ev.Resource]
	if !ok {
		of = selectionsOf(f.header, ev.Resource, f.selections)
		f.of[ev.Resource] = of
	}
	if len(of) == 0 {
		return true
	}
	if ev.Type == Refused {
		return !f.asked(of, ev) || yield(ev, nil)
	}
	if !ev.Type.Object() {
		if f.lists[ev.Resource] == nil && (ev.Type == Sync || ev.Type == Gap) {
			f.lists[ev.Resource] = &openList{done: true}
		}
		return yield(ev, nil)
	}
	out, kept := f.object(of, ev)
	f.list(ev, kept)
	return !kept || yield(out, nil)
}

// object returns an object's event as the new tape has it, if it does.
func (f *filter) object(of []Selection, ev Event) (out Event, kept bool) {
	byLabel, match := false, false
	for _, s := range of {
		if len(s.Namespaces) > 0 && !slices.Contains(s.Namespaces, ev.Namespace) ||
			len(s.Names) > 0 && !slices.Contains(s.Names, ev.Name) {
			continue
		}
		if s.Labels == nil || s.Labels.Empty() {
			return ev, true // from its first event to its last
		}
		byLabel = true
		match = match || s.Labels.Matches(rawLabels(rawjson.Get(ev.Object, "metadata", "labels")))
	}
	if !byLabel {
		return ev, false
	}
	return f.byLabel(ev, match)
}

// asked reports whether the object that a REFUSED is about is on the new tape.
func (f *filter) asked(of []Selection, ev Event) bool {
	_, chosen := f.chosen[filterKey{ev.Resource, ev.Namespace, ev.Name}]
	return chosen || slices.ContainsFunc(of, func(s Selection) bool {
		return (s.Labels == nil || s.Labels.Empty()) &&
			(len(s.Namespaces) == 0 || slices.Contains(s.Namespaces, ev.Namespace)) &&
			(len(s.Names) == 0 || slices.Contains(s.Names, ev.Name))
	})
}

// byLabel keeps an event of an object that its labels choose, or chose before.
func (f *filter) byLabel(ev Event, match bool) (out Event, kept bool) {
	key := filterKey{ev.Resource, ev.Namespace, ev.Name}
	was, chosen := f.chosen[key]
	switch {
	case ev.Type == Deleted:
		delete(f.chosen, key)
	case match:
		f.chosen[key] = Event{Object: ev.Object}
		if !chosen {
			ev.Type, ev.Patch = Added, nil
		}
	case chosen:
		delete(f.chosen, key)
		ev.Type, ev.Patch, ev.Object = Deleted, nil, restamp(was.Object, ev.RV)
	}
	return ev, chosen || match && ev.Type != Deleted
}

// restamp returns an object with another resourceVersion.
func restamp(object []byte, rv string) []byte {
	patch := append(rawjson.AppendString([]byte(`{"metadata":{"resourceVersion":`), rv), `}}`...)
	return rawjson.Apply(make([]byte, 0, len(object)+len(rv)), object, patch)
}

// rawLabels are labels as they are in an object; it is a labels.Labels.
type rawLabels []byte

func (l rawLabels) Has(label string) bool {
	_, ok := l.Lookup(label)
	return ok
}

func (l rawLabels) Get(label string) string {
	value, _ := l.Lookup(label)
	return value
}

func (l rawLabels) Lookup(label string) (value string, exists bool) {
	return rawjson.Unquote(rawjson.Get(l, label))
}
