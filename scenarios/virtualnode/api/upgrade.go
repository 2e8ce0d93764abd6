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
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream"
)

// finalWriteTimeout bounds the writing of a status, and of the frames that end a connection, to a client that doesn't read.
const finalWriteTimeout = 10 * time.Second

// upgrade is a response that becomes a stream. net/http forgets a connection that was hijacked; this one notices when
// the client goes, which ends ctx, and closes the connection at the end whatever the protocols leave open.
//
// It has no Unwrap, lest a library look for the response below it.
type upgrade struct {
	http.ResponseWriter
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	conn   *watchedConn
	closed bool
}

// refused answers a request that can't become a stream: for err, for what the check of the container says, or because it
// asks for no upgrade. A port-forward's path names no container.
func refused(w http.ResponseWriter, r *http.Request, check ContainerCheckFunc, err error) bool {
	if err == nil && check != nil {
		err = check(r.Context(), r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"))
	}
	if err == nil && !httpstream.IsUpgradeRequest(r) {
		err = badRequest("Upgrade request required")
	}
	switch {
	case err == nil:
		return false
	case httpstream.IsUpgradeRequest(r):
		writeStatus(w, err)
	default:
		writeError(w, err)
	}
	return true
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
	watched := watch(conn, u.cancel)
	u.mu.Lock()
	u.conn = watched
	closed := u.closed
	u.mu.Unlock()
	if closed {
		_ = watched.Close()
	}
	in := io.MultiReader(bytes.NewReader(bytes.Clone(ahead)), watched)
	return watched, bufio.NewReadWriter(bufio.NewReader(in), bufio.NewWriter(watched)), nil
}

// Flush implements http.Flusher.
func (u *upgrade) Flush() { _ = http.NewResponseController(u.ResponseWriter).Flush() }

// within closes the connection if write, which tells the client that something has ended, takes longer than finalWriteTimeout.
func (u *upgrade) within(write func()) {
	late := time.AfterFunc(finalWriteTimeout, u.close)
	defer late.Stop()
	write()
}

// close ends the context and the connection, and waits for what watches it.
func (u *upgrade) close() {
	u.cancel()
	u.mu.Lock()
	u.closed = true
	conn := u.conn
	u.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
		<-conn.done
	}
}
