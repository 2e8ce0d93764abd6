package api

import (
	"net"
	"sync"
)

// connections are those that a listener has accepted and that are open, hijacked ones included.
type connections struct {
	mu   sync.Mutex
	open map[net.Conn]bool
}

// watch adds what a listener accepts.
func (c *connections) watch(l net.Listener) net.Listener { return countedListener{l, c} }

// cut closes them all.
func (c *connections) cut() {
	c.mu.Lock()
	open := c.open
	c.open = map[net.Conn]bool{}
	c.mu.Unlock()
	for conn := range open {
		_ = conn.Close()
	}
}

type countedListener struct {
	net.Listener
	all *connections
}

func (l countedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	counted := &countedConn{conn, l.all}
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	l.all.open[counted] = true
	return counted, nil
}

type countedConn struct {
	net.Conn
	all *connections
}

func (c *countedConn) Close() error {
	c.all.mu.Lock()
	delete(c.all.open, c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}
