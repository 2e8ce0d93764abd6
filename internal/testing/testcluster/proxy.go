package testcluster

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/localcluster/process"
)

// A Proxy is between clients and the API server and breaks their connections on demand. It forwards bytes and
// never looks into TLS. What it can do:
//
//   - Cut resets every open connection; new ones are served.
//   - Stall stops the bytes of every connection, old and new, in both directions, and keeps all open: a silent network.
//   - Refuse cuts, and the port refuses new connections, as if no server ran.
//   - CutAfter lets so many more bytes reach the clients and then cuts, mostly in the middle of a frame.
//   - Resume ends Stall and Refuse.
//
// All methods are safe for concurrent use.
type Proxy struct {
	target, address string
	work            sync.WaitGroup // the acceptor, and two copiers a connection

	mu       sync.Mutex
	listener net.Listener          // nil while the proxy refuses
	open     map[net.Conn]struct{} // both ends of every connection
	flow     chan struct{}         // closed while bytes may flow
	budget   int64                 // bytes to clients until the next cut; below 0 without limit
	closed   bool
}

// Proxy starts a proxy before this cluster's API server, which ends with the test.
func (c *Cluster) Proxy(t testing.TB) *Proxy { return ProxyTo(t, c.config.Host) }

// ProxyTo starts a proxy before any API server, by its URL.
func ProxyTo(t testing.TB, host string) *Proxy {
	t.Helper()
	server, err := url.Parse(host)
	if err != nil {
		t.Fatalf("start a proxy: %v", err)
	}
	p, err := newProxy(server.Host)
	if err != nil {
		t.Fatalf("start a proxy: %v", err)
	}
	t.Cleanup(p.close)
	return p
}

func newProxy(target string) (*Proxy, error) {
	flow := make(chan struct{})
	close(flow)
	p := &Proxy{target: target, open: map[net.Conn]struct{}{}, flow: flow, budget: -1}
	p.mu.Lock()
	defer p.mu.Unlock()
	n, err := process.FreePort() // that nobody takes while the proxy refuses
	if err != nil {
		return nil, err
	}
	p.address = fmt.Sprintf("127.0.0.1:%d", n)
	return p, p.listen()
}

// Config is the configuration of a client that goes through the proxy, with the rights of the given one.
func (p *Proxy) Config(config *rest.Config) *rest.Config {
	through := rest.CopyConfig(config)
	through.Host = "https://" + p.address
	return through
}

// Connections is the number of client connections that are open now.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open) / 2
}

// Cut resets every open connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

// CutAfter resets every open connection once so many more bytes have reached the clients, all of them together.
func (p *Proxy) CutAfter(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.budget = bytes
}

// Stall stops the flow of bytes until Resume.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.flow:
		p.flow = make(chan struct{})
	default: // stalled already
	}
}

// Refuse resets every connection and has the port refuse new ones until Resume.
func (p *Proxy) Refuse() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
	if p.listener == nil {
		return nil
	}
	err := p.listener.Close()
	p.listener = nil
	return err
}

// Resume serves again, at the same address.
func (p *Proxy) Resume() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release()
	if p.listener != nil || p.closed {
		return nil
	}
	return p.listen()
}

func (p *Proxy) close() {
	_ = p.Refuse()
	p.mu.Lock()
	p.closed = true
	p.release()
	p.mu.Unlock()
	p.work.Wait()
}

// The methods below want p.mu held.

func (p *Proxy) listen() error {
	listener, err := net.Listen("tcp", p.address)
	if err != nil {
		return fmt.Errorf("listen as proxy of %s: %w", p.target, err)
	}
	p.listener = listener
	p.work.Go(func() { p.accept(listener) })
	return nil
}

func (p *Proxy) release() {
	select {
	case <-p.flow:
	default:
		close(p.flow)
	}
}

func (p *Proxy) cut() {
	for conn := range p.open {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset and not a farewell; on a connection that is gone already there is nothing to say
		}
		_ = conn.Close()
		delete(p.open, conn)
	}
}

// accept runs until its listener is closed.
func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // a client that was gone before it was accepted
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil { // no API server there: the client sees a reset
			_ = client.(*net.TCPConn).SetLinger(0)
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = struct{}{}, struct{}{}
		if p.listener != listener { // refused in the meantime
			p.cut()
		}
		p.mu.Unlock()
		p.work.Go(func() { p.copy(server, client, false) })
		p.work.Go(func() { p.copy(client, server, true) })
	}
}

// copy forwards bytes until one side ends, then closes both.
func (p *Proxy) copy(to, from net.Conn, counted bool) {
	defer func() {
		p.mu.Lock()
		delete(p.open, to)
		delete(p.open, from)
		p.mu.Unlock()
		_ = to.Close()
		_ = from.Close()
	}()
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			p.mu.Lock()
			flow := p.flow
			p.mu.Unlock()
			<-flow
			if _, err := to.Write(buffer[:p.allowed(n, counted)]); err != nil {
				return
			}
			p.spent()
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.reset(to)
			}
			return
		}
	}
}

// allowed is the number of bytes, of n, that may continue until the budget of CutAfter is used up.
func (p *Proxy) allowed(n int, counted bool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !counted || p.budget < 0 {
		return n
	}
	n = int(min(int64(n), p.budget))
	p.budget -= int64(n)
	return n
}

// spent cuts when the budget of CutAfter is used up.
func (p *Proxy) spent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.budget == 0 {
		p.budget = -1
		p.cut()
	}
}

// reset has the other side see what happened to this one.
func (p *Proxy) reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}
