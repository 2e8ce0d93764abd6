package fakeclient

import (
	"context"
	"net/http"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/replay"
)

// stream is a watch.Interface over a replay.Watch. One goroutine of its own
// decodes and sends; it ends with Stop, and Client.Close waits for it.
type stream struct {
	client *Client
	watch  *replay.Watch
	as     form
	result chan watch.Event
	cancel context.CancelFunc
	request
	pending pending

	// asked counts the calls of ResultChan, sent the events received. A
	// reflector asks before each event, and so says that it has dealt with the
	// one before.
	asked, sent atomic.Int64
	reflector   bool
	back        chan struct{} // holds one token after a call of ResultChan
}

// noWatchList is the answer of an API server without streamed lists (422, as
// ValidateListOptions in apis/meta/internalversion/validation of apimachinery
// has it), after which a reflector lists.
func noWatchList() error {
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", field.ErrorList{field.Forbidden(
		field.NewPath("sendInitialEvents"), "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled: use fakeclient.WithWatchList")})
}

// watch opens a stream.
func (c *Client) watch(gvr schema.GroupVersionResource, namespace string, opts metav1.ListOptions, as form) (*stream, error) {
	if opts.SendInitialEvents != nil && !c.watchList {
		return nil, noWatchList()
	}
	w, err := c.cluster.Watch(gvr, namespace, opts)
	if err != nil {
		return nil, c.explain(gvr, err)
	}
	ctx, cancel := context.WithCancel(c.ctx)
	s := &stream{
		client: c, watch: w, as: as, cancel: cancel,
		result: make(chan watch.Event), back: make(chan struct{}, 1),
		reflector: opts.AllowWatchBookmarks && opts.TimeoutSeconds != nil,
		request:   requestOf(gvr, namespace, opts),
	}
	c.mu.Lock()
	s.begin(opts)
	c.streams[s] = struct{}{}
	c.mu.Unlock()
	if !c.start(func() { s.run(ctx) }) {
		s.end()
		return nil, errClosed()
	}
	return s, nil
}

func (s *stream) run(ctx context.Context) {
	defer s.end()
	for {
		ev, err := s.watch.Next(ctx)
		if err != nil {
			return
		}
		out := s.event(ev)
		if s.client.compares() {
			s.pending.note(ev)
		}
		select {
		case s.result <- out:
			s.sent.Add(1)
		case <-ctx.Done():
			return
		}
		if out.Type == watch.Error {
			return
		}
	}
}

// event decodes. What can't be decoded ends the stream, as it does where
// client-go reads from a server.
func (s *stream) event(ev replay.Event) watch.Event {
	if ev.Status != nil {
		return watch.Event{Type: watch.Error, Object: ev.Status}
	}
	obj, err := shared(s.as, ev.Object)
	if err != nil {
		s.client.refuted(err)
		return watch.Event{Type: watch.Error, Object: &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
			Message: "unable to decode an event from the tape: " + err.Error(),
		}}
	}
	return watch.Event{Type: ev.Type, Object: obj}
}

func (s *stream) end() {
	s.watch.Stop()
	s.cancel()
	s.client.mu.Lock()
	s.leave()
	delete(s.client.streams, s)
	s.client.mu.Unlock()
	close(s.result) // a reflector opens the next one at once
}

// ResultChan implements watch.Interface.
func (s *stream) ResultChan() <-chan watch.Event {
	s.asked.Add(1)
	select {
	case s.back <- struct{}{}:
	default:
	}
	return s.result
}

// Stop implements watch.Interface. It doesn't wait.
func (s *stream) Stop() { s.cancel() }

// settled waits until a reflector has come back for the next event. Other
// consumers may have called ResultChan once for all, so nothing can be known.
func (s *stream) settled(ctx context.Context) error {
	for s.reflector && s.asked.Load() <= s.sent.Load() {
		select {
		case <-s.back:
		case <-s.watch.Done():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// ended reports whether nothing more comes.
func (s *stream) ended() bool {
	select {
	case <-s.watch.Done():
		return true
	default:
		return false
	}
}
