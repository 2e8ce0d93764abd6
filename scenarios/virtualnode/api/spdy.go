package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
)

// maxStreamHeaders bounds the bytes of a stream's headers, which are kept as long as the stream; a client's are three
// short words and a number.
const maxStreamHeaders = 4 << 10

var (
	errStreamsLate = errors.New("timed out waiting for client to create streams")
	errNoStreams   = errors.New("the client has gone, or has opened all its streams")
)

// spdyConn is the server's end of a SPDY connection. Its owner takes the client's streams with next and calls close in
// the end.
//
// spdystream has five workers for the frames of a connection, and one that has data for a stream waits until it is read
// or the stream is reset (github.com/moby/spdystream, connection.go, handleDataFrame). So end and close reset every
// stream that was accepted, whatever has become of it.
type spdyConn struct {
	httpstream.Connection
	limit    int
	admit    func(httpstream.Stream) error
	arrivals chan arrival

	accepting context.Context
	stop      context.CancelFunc // refuses all further streams

	mu   sync.Mutex
	open map[uint32]httpstream.Stream // by their identifiers
}

type arrival struct {
	stream    httpstream.Stream
	replySent <-chan struct{}
}

// newSPDYConn returns a connection that accepts the streams that admit has no error for, at most limit at a time. admit
// is called for one stream after another.
func newSPDYConn(ctx context.Context, limit int, admit func(httpstream.Stream) error) *spdyConn {
	c := &spdyConn{limit: limit, admit: admit, arrivals: make(chan arrival), open: map[uint32]httpstream.Stream{}}
	c.accepting, c.stop = context.WithCancel(ctx)
	return c
}

// upgrade opens the connection. It returns false if the client was answered with an error.
func (c *spdyConn) upgrade(w http.ResponseWriter, r *http.Request, idle time.Duration) bool {
	c.Connection = spdy.NewResponseUpgrader().UpgradeResponse(w, r, c.accept)
	if c.Connection == nil {
		c.stop()
		return false
	}
	c.SetIdleTimeout(idle)
	return true
}

// accept is called by a worker of spdystream for each stream that the client opens. An error resets the stream.
func (c *spdyConn) accept(stream httpstream.Stream, replySent <-chan struct{}) error {
	if err := c.enter(stream); err != nil {
		return err
	}
	select {
	case c.arrivals <- arrival{stream, replySent}:
		// Without a reply, a reset of this stream by the client would hold a worker forever (github.com/moby/spdystream,
		// connection.go, handleResetFrame). An error takes the stream away before; the second reply does nothing.
		if s, ok := stream.(interface{ SendReply(http.Header, bool) error }); ok {
			return s.SendReply(http.Header{}, false)
		}
		return nil
	case <-c.accepting.Done():
		c.forget(stream)
		return errNoStreams
	}
}

func (c *spdyConn) enter(stream httpstream.Stream) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.accepting.Err() != nil:
		return errNoStreams
	case len(c.open) >= c.limit:
		return fmt.Errorf("found %d streams open, want fewer", c.limit)
	case headerBytes(stream.Headers()) > maxStreamHeaders:
		return fmt.Errorf("found more than %d bytes of headers, want fewer", maxStreamHeaders)
	}
	if err := c.admit(stream); err != nil {
		return err
	}
	c.open[stream.Identifier()] = stream
	return nil
}

func headerBytes(h http.Header) int {
	n := 0
	for name, values := range h {
		n += len(name)
		for _, value := range values {
			n += len(value)
		}
	}
	return n
}

func (c *spdyConn) forget(stream httpstream.Stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, stream.Identifier())
}

// next returns the next stream, after the reply to its creation, or an error when expired fires, the client has gone or
// the context ends. expired may be nil.
func (c *spdyConn) next(expired <-chan time.Time) (httpstream.Stream, error) {
	var a arrival
	for arrivals := c.arrivals; ; {
		select {
		case a = <-arrivals:
			arrivals = nil
		case <-a.replySent:
			// This is said of a reply that couldn't be written too, and then a write to the stream would wait forever
			// (github.com/moby/spdystream, stream.go, waitWriteReply). The failure has ended the context or the
			// connection before.
			if c.gone() {
				return nil, errNoStreams
			}
			return a.stream, nil
		case <-expired:
			return nil, errStreamsLate
		case <-c.CloseChan():
			return nil, errNoStreams
		case <-c.accepting.Done():
			return nil, errNoStreams
		}
	}
}

func (c *spdyConn) gone() bool {
	select {
	case <-c.CloseChan():
		return true
	default:
		return c.accepting.Err() != nil
	}
}

// end closes a stream of next, or aborts it after a failure. A reset after a close sends nothing, and frees what the
// client leaves open at its end.
func (c *spdyConn) end(stream httpstream.Stream, failed bool) {
	if !failed {
		_ = stream.Close()
	}
	_ = stream.Reset()
	c.RemoveStreams(stream)
	c.forget(stream)
}

// close resets all streams and closes the connection.
func (c *spdyConn) close() {
	c.stop()
	_ = c.Connection.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, stream := range c.open { // those too that Connection doesn't know yet
		_ = stream.Reset()
	}
	clear(c.open)
}
