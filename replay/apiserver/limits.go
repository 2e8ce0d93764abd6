package apiserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// The limits are kube-apiserver's: server/secure_serving.go and config.go of
// k8s.io/apiserver.
const (
	mostHeaderBytes    = 1 << 20
	readHeaderTimeout  = 32 * time.Second
	idleTimeout        = 90 * time.Second
	requestTimeout     = 60 * time.Second // of what isn't a watch
	streamsAConnection = 100              // clients open another connection for more
	streamBuffer       = 256 << 10
)

// shutdownTimeout is the time requests may take to end when a web ends: watches
// end at once, and the rest soon.
const shutdownTimeout = 5 * time.Second

// web is an http.Server that ends gracefully: its watches first, then its
// connections, and with them every goroutine.
type web struct {
	server   *http.Server
	handling sync.RWMutex       // read-locked while an answer is written
	end      context.CancelFunc // of every request's context
}

func newWeb(h http.Handler, blocked time.Duration) *web {
	base, end := context.WithCancel(context.Background())
	w := &web{end: end}
	w.server = &http.Server{
		Handler:     w.limited(h),
		BaseContext: func(net.Listener) context.Context { return base },

		MaxHeaderBytes: mostHeaderBytes, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: streamsAConnection, MaxReceiveBufferPerStream: streamBuffer,
			MaxReceiveBufferPerConnection: streamBuffer * streamsAConnection, MaxReadFrameSize: streamBuffer,
			WriteByteTimeout: blocked,
		},
		ErrorLog: log.New(panics{os.Stderr}, "", 0),
	}
	return w
}

// limited bounds the time that a request takes to be read and answered; a watch
// sets its own bounds.
func (w *web) limited(h http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		w.handling.RLock()
		defer w.handling.RUnlock()
		c := http.NewResponseController(rw)
		due := time.Now().Add(requestTimeout)
		_ = c.SetWriteDeadline(due) // what knows no deadlines does without
		if req.ContentLength != 0 {
			_ = c.SetReadDeadline(due)
		}
		h.ServeHTTP(rw, req)
	})
}

// panics passes on what an http.Server says of a handler that has panicked, which
// would be our mistake. Handshakes that fail and the like are the client's, and no
// business of who shows a panel.
type panics struct{ out io.Writer }

// Write implements io.Writer.
func (p panics) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("panic serving")) {
		return p.out.Write(line)
	}
	return len(line), nil
}

// serve answers on a listener until the context ends.
func (w *web) serve(ctx context.Context, l net.Listener, start func(net.Listener) error) error {
	ended := make(chan error, 1)
	var serving sync.WaitGroup
	serving.Go(func() { ended <- start(l) })
	defer serving.Wait()
	select {
	case err := <-ended:
		return errors.Join(err, w.stop())
	case <-ctx.Done():
	}
	err := w.stop()
	if started := <-ended; !errors.Is(started, http.ErrServerClosed) {
		err = errors.Join(err, started)
	}
	return err
}

// stop ends the watches, then what else is open.
func (w *web) stop() error {
	w.end()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := w.server.Shutdown(ctx)
	if err != nil {
		err = w.server.Close()
	}
	w.handling.Lock()
	defer w.handling.Unlock() // no handler runs any more: that is all there was to wait for
	return err
}
