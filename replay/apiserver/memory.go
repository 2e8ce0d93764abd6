package apiserver

import (
	"context"
	"errors"
	"net"
	"sync"

	"k8s.io/client-go/rest"
)

// memory is a network of this process alone. Nothing in it waits for the kernel,
// so it may live in a bubble of testing/synctest.
type memory struct {
	calls chan net.Conn
	done  chan struct{}
	close func()
}

func newMemory() *memory {
	m := &memory{calls: make(chan net.Conn), done: make(chan struct{})}
	m.close = sync.OnceFunc(func() { close(m.done) })
	return m
}

// Dial is the client's side, whatever the address.
func (m *memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case m.calls <- there:
		return here, nil
	case <-m.done:
		// Not net.ErrClosed, after which client-go tries ten times.
		return nil, &net.OpError{Op: "dial", Net: m.Addr().Network(), Err: errShut}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var errShut = errors.New("the server of this replay is closed")

// Accept implements net.Listener.
func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.calls:
		return c, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (m *memory) Close() error { m.close(); return nil }

// Addr implements net.Listener.
func (m *memory) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "nodesim" }

// inMemory is a Server's answering in memory, from the first RESTConfig to Close.
type inMemory struct {
	begin sync.Once
	wires *memory
	stop  context.CancelFunc
	ended chan struct{}
}

// RESTConfig returns how clients in this process reach the server without a socket,
// TLS or token: a clientset, an informer, controller-runtime's manager. Each call
// returns a new one that may be changed. It works inside of a testing/synctest
// bubble, if the Server is made there. Close ends it.
func (s *Server) RESTConfig() *rest.Config {
	m := &s.inMemory
	m.begin.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		m.wires, m.stop, m.ended = newMemory(), cancel, make(chan struct{})
		w := newWeb(s, s.settings.blocked)
		go func() {
			defer close(m.ended)
			_ = w.serve(ctx, m.wires, w.server.Serve) // a listener that never fails
		}()
	})
	// Requests to localhost go through no proxy, whatever the environment says.
	return &rest.Config{Host: "http://localhost", Dial: s.inMemory.wires.Dial, QPS: -1}
}

// shut ends what RESTConfig has begun, and waits for it.
func (m *inMemory) shut() {
	m.begin.Do(func() {
		m.wires, m.stop, m.ended = newMemory(), func() {}, make(chan struct{})
		m.wires.close()
		close(m.ended)
	})
	m.stop()
	<-m.ended
}
