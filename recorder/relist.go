package recorder

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"
)

// relist says that events are lost, and finds out by a new list what became
// of everything.
func (w *watch) relist(ctx context.Context) error {
	err := w.rec.deliver(func(at time.Duration) error {
		return w.rec.sequencer.lost(at, w.state, w.lost)
	})
	if err != nil {
		return errEnded
	}
	return w.again(ctx)
}

// again lists what is partly known, and puts the differences on the tape,
// with a SYNC after them. What hasn't changed costs nothing.
func (w *watch) again(ctx context.Context) error {
	var here map[string]bool
	var items [][]byte
	forget := func() { here, items = map[string]bool{}, nil }
	forget()
	version, err := w.client.list(ctx, w.state.res, forget, func(item []byte) error {
		id := identify(item)
		known := false
		if err := w.rec.deliver(func(time.Duration) error {
			o := w.state.find(id)
			known = o != nil && o.onTape && o.version == string(bare(id.version))
			if known {
				here[o.id] = true
			}
			return nil
		}); err != nil || known {
			return err
		}
		raw, err := w.redact(item)
		if err != nil {
			return err
		}
		here[idOf(id)] = true
		items = append(items, raw)
		return nil
	})
	if errors.Is(err, errEnded) {
		return err
	}
	if err != nil {
		return refused("list", w.state.res, err)
	}
	err = w.rec.deliver(func(at time.Duration) error {
		return w.rec.sequencer.relisted(at, w.state, here, items, version)
	})
	if err != nil {
		return errEnded
	}
	w.version, w.lost = version, ""
	return nil
}

// redact returns an object that takes no more memory than it needs.
func (w *watch) redact(item []byte) ([]byte, error) {
	raw, err := w.redactor.Redact(w.state.res, item)
	if err == nil && cap(raw) > len(raw)+len(raw)/4 {
		raw = bytes.Clone(raw)
	}
	return raw, err
}

// list reads and redacts everything.
func (w *watch) list(ctx context.Context) (items [][]byte, version string, err error) {
	version, err = w.client.list(ctx, w.state.res, func() { items = nil }, func(item []byte) error {
		raw, err := w.redact(item)
		items = append(items, raw)
		return err
	})
	return items, version, err
}

// firstPage reads the first page, which is the whole list of most resources.
// Where it isn't, the rest is left for later: w.long.
func (w *watch) firstPage(ctx context.Context) (items [][]byte, version string, err error) {
	version, all, err := w.client.first(ctx, w.state.res, func(item []byte) error {
		raw, err := w.redact(item)
		items = append(items, raw)
		return err
	})
	w.long = !all
	return items, version, err
}

// stream writes a long initial list to the tape page by page, so that it is
// never in memory as a whole. Where it has to start over, what has changed
// since is written as a change: a resource's events before its first SYNC are
// one state.
func (w *watch) stream(ctx context.Context) error {
	for try := 1; ; try++ {
		err := w.pour(ctx)
		var s *statusError
		switch {
		case err == nil, errors.Is(err, errEnded):
			return err
		case try == preflightTries, errors.As(err, &s) && s.Code < 500 && s.Code != http.StatusTooManyRequests && !expired(err):
			return refused("list", w.state.res, err)
		}
		w.pause(ctx, backoff(try, w.rec.cfg.Jitter(), retryAfter(err)))
	}
}

func (w *watch) pour(ctx context.Context) error {
	if len(w.state.alive) > 0 { // an earlier try has come to something
		return w.again(ctx)
	}
	l := lister{client: w.client, res: w.state.res, item: func(item []byte) error {
		raw, err := w.redactor.Redact(w.state.res, item)
		if err != nil {
			return err
		}
		return w.rec.deliver(func(time.Duration) error {
			o := w.rec.sequencer.load(w.state, raw)
			return w.rec.sequencer.enter(0, w.state, o, o.version)
		})
	}}
	version, err := l.pages(ctx, pageSize)
	if err != nil {
		return err
	}
	if err := w.rec.deliver(func(time.Duration) error { return w.rec.sequencer.listed(w.state, version) }); err != nil {
		return err
	}
	w.version = highest(version, w.version)
	return nil
}

// preflight is the list, or its first page, before a recording. A server that is busy, or whose
// answer is cut off, is asked again; everything else is for the user to know at once.
func (w *watch) preflight(ctx context.Context, whole bool) ([][]byte, error) {
	read := w.firstPage
	if whole {
		read = w.list
	}
	for try := 1; ; try++ {
		items, version, err := read(ctx)
		if err == nil {
			w.version = version
			return items, nil
		}
		var s *statusError
		busy := errors.As(err, &s) && (s.Code == http.StatusTooManyRequests || s.Code >= 500)
		if try == preflightTries || !busy && !cutOff(err) {
			return nil, refused("list", w.state.res, err)
		}
		w.pause(ctx, backoff(try, w.rec.cfg.Jitter(), retryAfter(err)))
	}
}
