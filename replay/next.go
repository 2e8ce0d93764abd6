package replay

import (
	"context"
	"errors"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// Next returns the next event, waiting for it. It ends with io.EOF after an
// ERROR event or Stop, and with the context's error. Calling it says that the
// event before has been dealt with; see [Cluster.WaitDelivered].
func (w *Watch) Next(ctx context.Context) (Event, error) {
	for {
		ev, err := w.TryNext()
		if !errors.Is(err, errNothing) {
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

var errNothing = errors.New("no event is waiting")

// IsNothing reports whether TryNext found no event waiting.
func IsNothing(err error) bool { return errors.Is(err, errNothing) }

// TryNext is Next without waiting: where nothing is to be read now, it returns
// an error that IsNothing knows. A server flushes its buffer there.
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
	if len(w.initial) > 0 {
		o := w.initial[0]
		w.initial = w.initial[1:]
		return Event{Type: watch.Added, Object: o}, nil
	}
	if o := w.endMark; o != nil {
		w.endMark = nil
		return Event{Type: watch.Bookmark, Object: o}, nil
	}
	for {
		e := w.cursor.next()
		if e == nil {
			return Event{}, errNothing
		}
		if ev, ok := w.convert(e); ok {
			if ev.Type == watch.Error {
				return w.fails(errRewound()), nil
			}
			w.version = e.version
			return ev, nil
		}
	}
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
		return Event{Type: watch.Error}, true
	case watch.Bookmark:
		return Event{Type: watch.Bookmark, Object: e.object}, w.request.opts.AllowWatchBookmarks
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

func (w *Watch) pending() bool {
	if w.ended || w.fail != nil || len(w.initial) > 0 || w.endMark != nil {
		return true
	}
	for {
		ahead := w.cursor
		e := ahead.next()
		if e == nil {
			return false
		}
		if _, ok := w.convert(e); ok {
			return true
		}
		w.cursor = ahead // nothing for this watch
	}
}
