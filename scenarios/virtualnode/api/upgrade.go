package api

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// upgrade is a response that becomes a stream. net/http forgets a connection that was hijacked; this one notices when
// the client goes, which ends ctx, and closes the connection at the end whatever the protocols leave open.
//
// It has no Unwrap, lest cri-streaming look for the response below it.
type upgrade struct {
	http.ResponseWriter
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	conn   net.Conn
	closed bool
}

func newUpgrade(w http.ResponseWriter, r *http.Request) *upgrade {
	ctx, cancel := context.WithCancel(r.Context())
	return &upgrade{ResponseWriter: w, ctx: ctx, cancel: cancel}
}

// Hijack implements http.Hijacker.
func (u *upgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, fmt.Errorf("open a stream: %w", err)
	}
	ahead, err := buffers.Reader.Peek(buffers.Reader.Buffered())
	if err != nil {
		_ = conn.Close()
		return nil, nil, fmt.Errorf("open a stream: %w", err)
	}
	watched := &watchedConn{Conn: conn, gone: u.cancel}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.conn = watched
	if u.closed {
		_ = conn.Close()
	}
	in := io.MultiReader(bytes.NewReader(bytes.Clone(ahead)), watched)
	return watched, bufio.NewReadWriter(bufio.NewReader(in), bufio.NewWriter(watched)), nil
}

// Flush implements http.Flusher.
func (u *upgrade) Flush() { _ = http.NewResponseController(u.ResponseWriter).Flush() }

// close ends the context and the connection.
func (u *upgrade) close() {
	u.cancel()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	if u.conn != nil {
		_ = u.conn.Close()
	}
}

// watchedConn tells when nothing more will come from a client.
type watchedConn struct {
	net.Conn
	gone func()
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.gone()
	}
	return n, err
}
