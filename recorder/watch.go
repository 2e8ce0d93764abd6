package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/timeline"
)

// How long the server is asked to keep a watch open: between five and ten
// minutes, as client-go's reflector does, so that watches don't all end at
// once. A connection that is dead without saying so lasts no longer than that
// and the grace.
const (
	watchLeast = 5 * time.Minute
	watchGrace = 30 * time.Second
)

// garbageMost says how often a stream may break at one version by what it says
// before the version is given up.
const garbageMost = 5

// watch follows one resource from a version on, over as many connections as
// it takes. One goroutine runs it; what it reads goes on the tape in the same
// goroutine, with the Recorder's mutex held. There is no queue to lose: when
// the disk is slow, reading stops, and a server that hangs up over it is
// asked again from the last version.
type watch struct {
	rec      *Recorder
	client   *client
	state    *resourceState
	redactor *timeline.Redactor

	version  string // everything up to here was taken in
	body     io.ReadCloser
	cancel   context.CancelFunc
	failures int    // in a row
	garbage  int    // in a row, at one version
	long     bool   // the initial list has more than a page, and is not read yet
	lost     string // why the version is worth nothing; then a new list is due
}

// badStream is a stream that says what it must not.
type badStream struct{ error }

func (e *badStream) Unwrap() error { return e.error }

// run watches until ctx ends.
func (w *watch) run(ctx context.Context) {
	defer w.closeStream()
	for ctx.Err() == nil {
		err := w.turn(ctx)
		w.closeStream()
		if ctx.Err() != nil || errors.Is(err, errEnded) {
			return
		}
		w.note(err)
		if expired(err) && w.lost == "" {
			w.lost = err.Error()
			continue
		}
		var bad *badStream
		if errors.As(err, &bad) {
			if w.garbage++; w.garbage >= garbageMost {
				w.lost, w.garbage = bad.Error(), 0
			}
		}
		w.failures++
		w.pause(ctx, backoff(w.failures, w.rec.cfg.Jitter(), retryAfter(err)))
	}
}

// turn lists again where that is due, opens the watch where it is not open,
// and follows it to its end.
func (w *watch) turn(ctx context.Context) error {
	if w.lost != "" {
		if err := w.relist(ctx); err != nil {
			return err
		}
	}
	if w.body == nil {
		if err := w.connect(ctx); err != nil {
			return err
		}
	}
	w.connected()
	return w.follow()
}

// note keeps what Stats shows of a watch that is not open.
func (w *watch) note(err error) {
	_ = w.rec.deliver(func(time.Duration) error {
		s := &w.state.stats
		s.Connected, s.Failure = false, err.Error()
		s.Retries++
		return nil
	})
}

func (w *watch) connected() {
	_ = w.rec.deliver(func(time.Duration) error {
		w.state.stats.Connected, w.state.stats.Failure = true, ""
		return nil
	})
}

func (w *watch) pause(ctx context.Context, d time.Duration) {
	_ = retry.Pause(ctx, w.rec.clock, d) // the next request says that the context has ended
}

// connect opens the watch from w.version.
func (w *watch) connect(ctx context.Context) error {
	d := watchLeast + time.Duration(w.rec.cfg.Jitter()*float64(watchLeast))
	ctx, cancel := context.WithTimeout(ctx, d+watchGrace)
	query := url.Values{
		"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {w.version},
		"timeoutSeconds": {strconv.Itoa(int(d / time.Second))},
	}
	resp, err := w.client.get(ctx, path(w.state.res), query, http.Header{"Accept-Encoding": {"identity"}}) //nolint:bodyclose // closeStream closes it
	if err != nil {
		cancel()
		return err
	}
	w.body, w.cancel = resp.Body, cancel
	return nil
}

func (w *watch) closeStream() {
	if w.body != nil {
		w.cancel()
		_ = w.body.Close()
		w.body = nil
	}
}

// follow takes in frames until the stream ends, which is always an error.
func (w *watch) follow() error {
	s := newSplitter(w.body, 32<<10)
	for {
		frame, err := s.next()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the server closed the watch")
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("the watch was cut")
		case err != nil:
			return fmt.Errorf("read the watch: %w", err)
		}
		if err := w.frame(frame); err != nil {
			return err
		}
		w.failures = 0
	}
}

// frame takes in one event: {"type":…,"object":…}.
func (w *watch) frame(frame []byte) error {
	typ, object, err := envelope(frame)
	if err != nil {
		return &badStream{err}
	}
	switch typ {
	case "ADDED", "MODIFIED", "DELETED":
		return w.event(timeline.Type(typ), object)
	case "BOOKMARK":
		object, err := rawjson.Compact(nil, object)
		if err != nil {
			return &badStream{fmt.Errorf("BOOKMARK: %w", err)}
		}
		version := rawjson.Text(object, "metadata", "resourceVersion")
		return w.reached(version, func(at time.Duration) error {
			return w.rec.sequencer.bookmark(at, w.state, version)
		})
	case "ERROR":
		return parseStatus(object)
	}
	return &badStream{fmt.Errorf("found an event of type %.40q, want ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", typ)}
}

func (w *watch) event(typ timeline.Type, object []byte) error {
	raw, err := w.redactor.Redact(w.state.res, object)
	if err != nil {
		return &badStream{fmt.Errorf("%s: %w", typ, err)}
	}
	version := text(identify(raw).version)
	return w.reached(version, func(at time.Duration) error {
		return w.rec.sequencer.change(at, w.state, typ, raw)
	})
}

// reached delivers, and counts a version as taken in once that has happened.
func (w *watch) reached(version string, f func(time.Duration) error) error {
	err := w.rec.deliver(f)
	var broken *tapeError
	switch {
	case errors.As(err, &broken), errors.Is(err, errEnded):
		return errEnded
	case err != nil:
		return &badStream{err}
	}
	if version != "" && newer(version, w.version) {
		w.version, w.garbage = version, 0
	}
	return nil
}

// envelope takes a frame apart. The common form is recognised by its bytes;
// the object is checked where it is redacted.
func envelope(frame []byte) (typ string, object []byte, err error) {
	if rest, ok := bytes.CutPrefix(frame, []byte(`{"type":"`)); ok {
		if i := bytes.IndexByte(rest, '"'); i > 0 {
			if object, ok := bytes.CutPrefix(rest[i:], []byte(`","object":`)); ok {
				return string(rest[:i]), object[:len(object)-1], nil
			}
		}
	}
	compact, err := rawjson.Compact(nil, frame)
	if err != nil {
		return "", nil, err
	}
	typ, object = rawjson.Text(compact, "type"), rawjson.Get(compact, "object")
	if typ == "" || !rawjson.IsObject(object) {
		return "", nil, fmt.Errorf("found %.60q, want {\"type\":…,\"object\":{…}}", compact)
	}
	return typ, object, nil
}
