package apiserver

import (
	"context"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

// How much of a body is kept for a client that hasn't read it: of an answer that is
// sent whole, and of a stream.
const (
	mostWhole    = 1 << 20
	mostStreamed = 16 << 10
)

// reply is an answer on its way from a handler to a client in the same process: an
// http.ResponseWriter for the one, an http.Response's body for the other.
type reply struct {
	request *http.Request
	ctx     context.Context // of the handler
	cancel  context.CancelFunc
	head    chan struct{} // closed when there is something to tell the client
	more    chan struct{} // the reader has something new to look at
	room    chan struct{} // the writer has

	mu       sync.Mutex
	header   http.Header // the handler's
	sent     http.Header // as it was when the head was written
	code     int         // 0 until the head is written
	told     bool        // head is closed
	streamed bool
	waiting  []byte // written and not read yet
	read     int    // of waiting
	due      time.Time
	done     bool  // the handler has ended
	broken   bool  // before it had said everything
	gone     error // why the client had given the request up when the handler ended; nil if it hadn't
	closed   bool  // the client wants no more
}

func newReply(ctx context.Context, req *http.Request, cancel context.CancelFunc) *reply {
	return &reply{
		request: req, ctx: ctx, cancel: cancel, header: http.Header{},
		head: make(chan struct{}), more: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
}

// Header implements http.ResponseWriter.
func (r *reply) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *reply) WriteHeader(code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(code)
}

// begin writes the head. Called with mu held, as the following are.
func (r *reply) begin(code int) {
	if r.code == 0 && code >= http.StatusOK {
		r.code, r.sent = code, r.header.Clone()
	}
}

// tell lets the client see what there is.
func (r *reply) tell() {
	if !r.told {
		r.told = true
		close(r.head)
	}
	signal(r.more)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// bodiless reports whether the answer has no body, whatever is written.
func (r *reply) bodiless() bool {
	return r.request.Method == http.MethodHead || r.code == http.StatusNoContent || r.code == http.StatusNotModified
}

// Write implements http.ResponseWriter. It waits for a client that is far behind,
// until the deadline.
func (r *reply) Write(p []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(http.StatusOK)
	if r.bodiless() {
		return len(p), nil
	}
	for {
		if r.closed {
			return n, io.ErrClosedPipe
		}
		if err := r.ctx.Err(); err != nil {
			r.broken = true
			return n, err
		}
		took := min(r.free(), len(p)-n)
		if took > 0 && r.read > len(r.waiting)/2 { // it doesn't grow by what has been read
			r.waiting, r.read = r.waiting[:copy(r.waiting, r.waiting[r.read:])], 0
		}
		if free := cap(r.waiting) - len(r.waiting); free < took { // by what there is, or a long list is copied a dozen times
			r.waiting = slices.Grow(r.waiting, max(took, len(r.waiting)))
		}
		r.waiting = append(r.waiting, p[n:n+took]...)
		if n += took; n == len(p) {
			return n, nil
		}
		r.tell()
		if err := r.wait(); err != nil {
			r.broken = true
			return n, err
		}
	}
}

// free is how much more may wait.
func (r *reply) free() int {
	most := mostWhole
	if r.streamed {
		most = mostStreamed
	}
	return max(most-(len(r.waiting)-r.read), 0)
}

// wait waits for room, without mu.
func (r *reply) wait() error {
	var late <-chan time.Time
	if !r.due.IsZero() {
		t := time.NewTimer(time.Until(r.due))
		defer t.Stop()
		late = t.C
	}
	r.mu.Unlock()
	defer r.mu.Lock()
	select {
	case <-r.room:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	case <-late:
		return os.ErrDeadlineExceeded
	}
}

// Flush implements http.Flusher.
func (r *reply) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(http.StatusOK)
	r.streamed = true
	r.tell()
}

// SetWriteDeadline is for http.ResponseController.
func (r *reply) SetWriteDeadline(at time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due = at
	return nil
}

// finish says that the handler has ended.
func (r *reply) finish(panicked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = r.broken || panicked
	if !panicked {
		r.begin(http.StatusOK)
	}
	r.done, r.gone = true, context.Cause(r.request.Context())
	r.tell()
}

// response is what the client gets once there is a head.
func (r *reply) response() (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.code == 0 {
		return nil, io.ErrUnexpectedEOF // its handler has panicked
	}
	length := int64(-1)
	if r.done && !r.broken {
		length = int64(len(r.waiting))
	}
	if _, said := r.sent["Content-Type"]; !said && len(r.waiting) > 0 {
		r.sent.Set("Content-Type", http.DetectContentType(r.waiting))
	}
	return &http.Response{
		Status: statusLine(r.code), StatusCode: r.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.sent, Body: body{r}, ContentLength: length, Request: r.request,
	}, nil
}

func statusLine(code int) string {
	line := []byte{byte('0' + code/100), byte('0' + code/10%10), byte('0' + code%10), ' '}
	return string(append(line, http.StatusText(code)...))
}

// body is a reply as its client reads it.
type body struct{ *reply }

// Read implements io.Reader.
func (b body) Read(p []byte) (int, error) {
	r := b.reply
	for {
		if n, err := r.take(p); n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		select {
		case <-r.more:
		case <-r.request.Context().Done():
			return 0, context.Cause(r.request.Context())
		}
	}
}

// take reads what is there; nothing where there isn't anything yet.
func (r *reply) take(p []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	if n = copy(p, r.waiting[r.read:]); n > 0 {
		if r.read += n; r.read == len(r.waiting) {
			r.waiting, r.read = nil, 0 // most watches wait most of the time
		}
		signal(r.room)
		return n, nil
	}
	switch {
	case r.done && r.gone != nil: // which is why the handler ended
		return 0, r.gone
	case r.done && r.broken:
		return 0, io.ErrUnexpectedEOF
	case r.done:
		return 0, io.EOF
	}
	return 0, nil
}

// Close implements io.Closer.
func (b body) Close() error {
	r := b.reply
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed, r.waiting, r.read = true, nil, 0
	r.cancel()
	signal(r.room)
	return nil
}
