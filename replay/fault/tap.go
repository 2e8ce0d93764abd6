package fault

import (
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/replay"
)

// streamFilter does in one stream what it finds in the stream's history. Order is kept:
// after an event that is held back, everything waits.
type streamFilter struct {
	in     *injector
	who    client
	opened int  // cuts before it was opened: those don't concern it
	noEnd  bool // the bookmark after the initial events doesn't come

	next  *verdict // on the events that come now; nil for none
	queue []item
	held  map[int]struct{}
	quiet map[int]bool // silenced under these ids; true where events are lost
}

// item is an event that waits.
type item struct {
	ev    replay.Event
	times int
	holds []int
	group int
}

// Filter implements replay.FaultInjector.
func (in *injector) Filter(q replay.Request) replay.StreamFilter {
	in.mu.Lock()
	defer in.mu.Unlock()
	r, known := in.resourceOf(q)
	if !known {
		return nil
	}
	t := &streamFilter{in: in, who: clientOf(r, q), opened: in.interruptions, held: map[int]struct{}{}, quiet: map[int]bool{}}
	if begins(q) && q.Options.AllowWatchBookmarks {
		t.noEnd = in.withhold(q)
	}
	return t
}

// Event implements replay.StreamFilter.
func (t *streamFilter) Event(ev replay.Event, initial bool) []replay.Event {
	if initial {
		if t.noEnd && ev.Type == watch.Bookmark {
			return nil
		}
		return []replay.Event{ev}
	}
	for _, lost := range t.quiet {
		if lost {
			return nil
		}
	}
	it := item{ev: ev, times: 1}
	if v := t.next; v != nil {
		switch {
		case v.lost:
			return gone()
		case v.drop:
			return nil
		}
		it = item{ev, max(v.times, 1), v.holds, v.group}
		for _, id := range v.holds {
			t.held[id] = struct{}{}
		}
	}
	t.queue = append(t.queue, it)
	return t.flush()
}

// StreamMarker implements replay.StreamFilter.
func (t *streamFilter) StreamMarker(value any) []replay.Event {
	switch s := value.(type) {
	case *verdict:
		t.next = s
	case streamEnd:
		if s.seq <= t.opened {
			return nil
		}
		if s.how == refused || s.version != "" {
			t.in.planReconnect(t.who, s)
		}
		if s.how == expired {
			return gone()
		}
		return []replay.Event{{Type: replay.Closed}}
	case mute:
		if s.seq > t.opened {
			t.quiet[s.id] = s.lose
		}
	case release:
		if t.quiet[s.id] {
			return gone()
		}
		delete(t.quiet, s.id)
		delete(t.held, s.id)
		t.merge(s.id)
		return t.flush()
	}
	return nil
}

// flush delivers what nothing holds back.
func (t *streamFilter) flush() (out []replay.Event) {
	for len(t.quiet) == 0 && len(t.queue) > 0 && !slices.ContainsFunc(t.queue[0].holds, t.holds) {
		for range t.queue[0].times {
			out = append(out, t.queue[0].ev)
		}
		t.queue = t.queue[1:]
	}
	return out
}

func (t *streamFilter) holds(id int) bool {
	_, held := t.held[id]
	return held
}

// merge makes one event of those of a group for each object, in the place of
// the last.
func (t *streamFilter) merge(id int) {
	type span struct{ first, last int }
	type key struct{ namespace, name string }
	spans := map[key]*span{}
	gone := map[int]bool{}
	for i, it := range t.queue {
		if it.group != id || it.ev.Type == watch.Bookmark {
			continue
		}
		k := key{it.ev.Object.Namespace(), it.ev.Object.Name()}
		if s := spans[k]; s != nil {
			gone[s.last] = true
			s.last = i
		} else {
			spans[k] = &span{i, i}
		}
	}
	for s := range maps.Values(spans) {
		if s.first == s.last {
			continue
		}
		was, last := t.queue[s.first].ev.Type != watch.Added, &t.queue[s.last].ev
		switch is := last.Type != watch.Deleted; {
		case was && is:
			last.Type = watch.Modified
		case is:
			last.Type = watch.Added
		case !was:
			gone[s.last] = true
		}
	}
	rest := t.queue[:0]
	for i, it := range t.queue {
		if !gone[i] {
			rest = append(rest, it)
		}
	}
	t.queue = rest
}

// gone is the end of a stream whose history isn't there any more.
func gone() []replay.Event {
	status := apierrors.NewResourceExpired("the history of this watch is gone: list again").Status()
	return []replay.Event{{Type: watch.Error, Status: &status}}
}

// begins reports whether a request begins with what is there: a list, or a
// watch without a version to continue from (KEP-3157).
func begins(q replay.Request) bool {
	if q.Verb != "watch" {
		return q.Verb == "list" && q.Options.Continue == ""
	}
	if yes := q.Options.SendInitialEvents; yes != nil {
		return *yes
	}
	return q.Options.ResourceVersion == "" || q.Options.ResourceVersion == "0"
}
