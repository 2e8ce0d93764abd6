package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/portforward"
)

// maxForwardStreams bounds the streams of one port-forward: two for each connection, and as many again that wait for
// their other half or are told that there are too many.
const maxForwardStreams = 4 * maxForwards

// serveSPDY serves a port-forward over SPDY. The client opens two streams for each connection, one for data and one for
// an error (k8s.io/cri-streaming, pkg/streaming/portforward/httpstream.go). It returns when all connections have ended.
func (f *forwarder) serveSPDY(w http.ResponseWriter, r *http.Request) {
	if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardV1Name}); err != nil {
		return // Handshake has answered
	}
	conn := newSPDYConn(f.upgrade.ctx, maxForwardStreams, checkForwardHeaders)
	if !conn.upgrade(w, r, f.idle) {
		return
	}
	s := &spdyForwards{forwarder: f, conn: conn, waiting: map[string]*streamPair{}}
	defer s.running.Wait()
	defer conn.close()
	defer f.upgrade.cancel() // the functions' context, and with it the connection
	for {
		stream, err := conn.next(nil)
		if err != nil {
			return
		}
		s.add(stream)
	}
}

// checkForwardHeaders says whether a stream names its port and kind.
func checkForwardHeaders(stream httpstream.Stream) error {
	if _, err := parsePort(stream.Headers().Get(corev1.PortHeader)); err != nil {
		return fmt.Errorf("header %s: %w", corev1.PortHeader, err)
	}
	switch kind := stream.Headers().Get(corev1.StreamType); kind {
	case corev1.StreamTypeError, corev1.StreamTypeData:
		return nil
	default:
		return fmt.Errorf("header %s: found %q, want %s or %s", corev1.StreamType, kind, corev1.StreamTypeError, corev1.StreamTypeData)
	}
}

// spdyForwards are the connections of one client.
type spdyForwards struct {
	*forwarder
	conn    *spdyConn
	running sync.WaitGroup

	mu      sync.Mutex
	waiting map[string]*streamPair // by request, until both streams are there
}

// streamPair is one connection. Its streams are set by add alone, before complete is closed.
type streamPair struct {
	request    string
	errs, data httpstream.Stream
	complete   chan struct{}
}

// add gives a stream to its pair. It is called for one stream after another.
func (s *spdyForwards) add(stream httpstream.Stream) {
	s.mu.Lock()
	request := requestID(stream)
	pair, begun := s.waiting[request]
	if !begun {
		pair = &streamPair{request: request, complete: make(chan struct{})}
		s.waiting[request] = pair
	}
	kind, place := stream.Headers().Get(corev1.StreamType), &pair.data
	if kind == corev1.StreamTypeError {
		place = &pair.errs
	}
	if *place != nil {
		errs := pair.errs
		s.mu.Unlock()
		if errs != nil {
			_, _ = fmt.Fprintf(errs, "error processing stream for request %s: %s stream already assigned", request, kind)
		}
		s.conn.end(stream, true)
		return
	}
	*place = stream
	if pair.errs != nil && pair.data != nil {
		delete(s.waiting, request)
		close(pair.complete)
	}
	s.mu.Unlock()
	if !begun {
		s.running.Go(func() { s.carry(pair) })
	}
}

// carry waits for a pair, forwards its connection and ends both streams. After an error they are aborted, so that the
// client's own connection breaks too (httpstream.go, portForward).
func (s *spdyForwards) carry(pair *streamPair) {
	err := s.await(pair)
	if err == nil {
		port, _ := parsePort(pair.data.Headers().Get(corev1.PortHeader)) // checked when it was accepted
		err = s.forward(port, pair.data)
	}
	if err != nil && pair.errs != nil {
		_, _ = io.WriteString(pair.errs, err.Error())
	}
	for _, stream := range []httpstream.Stream{pair.data, pair.errs} {
		if stream != nil {
			s.conn.end(stream, err != nil)
		}
	}
}

// await returns when a pair is complete, or takes it out of those that wait and returns why it isn't.
func (s *spdyForwards) await(pair *streamPair) error {
	expired := time.NewTimer(s.creation)
	defer expired.Stop()
	var err error
	select {
	case <-pair.complete:
		return nil
	case <-expired.C:
		err = fmt.Errorf("(request=%s) timed out waiting for streams", pair.request)
	case <-s.upgrade.ctx.Done():
		err = context.Cause(s.upgrade.ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-pair.complete: // after all
		return nil
	default:
		delete(s.waiting, pair.request)
		return err
	}
}

// requestID is what the two streams of a connection have in common. Old clients don't send it. They open the stream for
// errors and then that for data, and the identifiers of a client's streams are consecutive odd numbers
// (httpstream.go, requestID).
func requestID(stream httpstream.Stream) string {
	if id := stream.Headers().Get(corev1.PortForwardRequestIDHeader); id != "" {
		return id
	}
	id := int64(stream.Identifier())
	if stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeData {
		id -= 2
	}
	return strconv.FormatInt(id, 10)
}
