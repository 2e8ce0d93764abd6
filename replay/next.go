package replay

import (
	"context"
	"errors"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// Next returns the next event, waiting for it. It ends with io.EOF after an
// ERROR event or Stop, and with the context's error. Calling it confirms that the
// event before has been dealt with; see [Cluster.WaitDelivered].
func (w *Watch) Next(ctx context.Context) (Event, error) {
	for {
		ev, err := w.TryNext()
		if !errors.Is(err, errNoEvent) {
			return ev, err
		}
		news := w.kind.coming()
		if w.rest() {
			continue // something came in between
		}
		select {
		case <-news:
		case <-w.done:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}

var errNoEvent = errors.New("no event is waiting")

// IsNoEvent reports whether TryNext found no event waiting.
func IsNoEvent(err error) bool { return errors.Is(err, errNoEvent) }

// TryNext is Next without waiting: where nothing is to be read now, it returns
// an error that IsNoEvent knows. A server flushes its buffer there.
func (w *Watch) TryNext() (Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = false
	if w.ended {
		return Event{}, io.EOF
	}
	if w.fail != nil {
		return w.fails(w.fail), nil
	}
	if !w.fill() {
		return Event{}, errNoEvent
	}
	ev := w.queue[w.ready]
	w.ready++
	switch ev.Type {
	case watch.Error:
		w.finish()
	case Closed:
		w.finish()
		return Event{}, io.EOF
	default:
		w.version = ev.Object.version
	}
	return ev, nil
}

// fill sees to it that something is in the queue, where anything is to be read.
// Called with mu held.
func (w *Watch) fill() bool {
	for w.ready >= len(w.queue) {
		switch {
		case len(w.initial) > 0:
			o := w.initial[0]
			w.initial = w.initial[1:]
			w.put(Event{Type: watch.Added, Object: o}, true)
			continue
		case w.endMark != nil:
			o := w.endMark
			w.endMark = nil
			w.put(Event{Type: watch.Bookmark, Object: o}, true)
			continue
		}
		e := w.cursor.next()
		if e == nil {
			return false
		}
		w.progress()
		if e.kind == signalled {
			if w.filter != nil {
				w.queue, w.ready = append(w.queue[:0], w.filter.StreamMarker(e.value)...), 0
			}
		} else if ev, ok := w.convert(e); ok {
			w.put(ev, false)
		}
	}
	return true
}

// put queues an event, or what the tap makes of it.
func (w *Watch) put(ev Event, initial bool) {
	w.ready = 0
	if w.filter == nil || ev.Type == watch.Error {
		w.queue = append(w.queue[:0], ev)
		return
	}
	w.queue = append(w.queue[:0], w.filter.Event(ev, initial)...)
}

// convert says what an entry is to this watch; cacheWatcher.convertToWatchEvent
// of k8s.io/apiserver decides in the same way.
func (w *Watch) convert(e *entry) (Event, bool) {
	if w.from != "" && e.kind != watch.Error {
		if compareVersions(e.version, w.from) <= 0 {
			return Event{}, false
		}
		w.from = ""
	}
	switch e.kind {
	case watch.Error:
		return Event{Type: watch.Error, Status: asStatus(errRewound())}, true
	case watch.Bookmark:
		mark := e.object
		if w.resource != w.kind.resource {
			mark = bookmarkOf(w.resource, mark.version)
		}
		return Event{Type: watch.Bookmark, Object: mark}, w.request.opts.AllowWatchBookmarks
	}
	is := e.kind != watch.Deleted && w.request.matches(e.object)
	was := e.prev != nil && w.request.matches(e.prev)
	switch {
	case is && was:
		return Event{Type: watch.Modified, Object: e.object}, true
	case is:
		return Event{Type: watch.Added, Object: e.object}, true
	case was && e.kind == watch.Deleted:
		return Event{Type: watch.Deleted, Object: e.object}, true
	case was:
		return Event{Type: watch.Deleted, Object: e.left()}, true
	}
	return Event{}, false
}

func errRewound() error {
	return apierrors.NewResourceExpired("the replay was rewound: list again, versions go on from a higher base")
}

// Pending reports whether Next would return at once.
func (w *Watch) Pending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pending()
}

func (w *Watch) pending() bool { return w.ended || w.fail != nil || w.fill() }
