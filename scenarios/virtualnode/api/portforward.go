package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// A PortForwardHandlerFunc carries one connection to a port of a pod and returns when it has ended. The stream is
// closed for it, at its return or when the client goes.
type PortForwardHandlerFunc func(ctx context.Context, namespace, pod string, port int32, stream io.ReadWriteCloser) error

// maxForwards is the number of connections that one client may have open at a time through one port-forward.
const maxForwards = 1024

func portForwardHandler(p PodHandlerConfig) http.Handler {
	if p.PortForward == nil {
		return notImplemented("port-forward")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		namespace, pod := r.PathValue("namespace"), r.PathValue("pod")
		options, tunnelled, err := &portforward.V4Options{}, wsstream.IsWebSocketRequestWithTunnelingProtocol(r), error(nil)
		if !tunnelled {
			if options, err = portforward.NewV4Options(r); err != nil {
				err = badRequest(err.Error())
			}
		}
		if refused(w, r, p.CheckContainer, err) {
			return
		}
		u := newUpgrade(w, r)
		f := &forwarder{ctx: u.ctx, run: func(port int32, stream io.ReadWriteCloser) error {
			return p.PortForward(u.ctx, namespace, pod, port, stream)
		}}
		defer f.wait() // after the end of the connection, which ends them
		defer u.close()
		stop := context.AfterFunc(u.ctx, u.close) // cri-streaming waits for the connection, not for the context
		defer stop()
		serve := func(w http.ResponseWriter, r *http.Request) {
			portforward.ServePortForward(w, r, f, pod, "", options, p.StreamIdleTimeout, p.StreamCreationTimeout,
				portforward.SupportedProtocols)
		}
		if tunnelled {
			serveTunnel(u, r, serve)
			return
		}
		serve(u, r)
	})
}

// forwarder is the connections of one client. cri-streaming starts them and waits for none.
type forwarder struct {
	ctx context.Context
	run func(port int32, stream io.ReadWriteCloser) error

	mu      sync.Mutex
	closed  bool
	open    int
	running sync.WaitGroup
}

// PortForward is called by cri-streaming for each connection, on a goroutine of its own and without a context.
func (f *forwarder) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) (err error) {
	if err := f.begin(); err != nil {
		return err
	}
	defer f.end()
	defer func() {
		if r := recover(); r != nil { // no handler above would
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f.run(port, stream)
}

func (f *forwarder) begin() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return errors.New("the client has gone")
	case f.open == maxForwards:
		return fmt.Errorf("found %d connections open, want fewer", maxForwards)
	}
	f.open++
	f.running.Add(1)
	return nil
}

func (f *forwarder) end() {
	f.mu.Lock()
	f.open--
	f.mu.Unlock()
	f.running.Done()
}

// wait lets no connection begin any more, and returns when all have ended.
func (f *forwarder) wait() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.running.Wait()
}
