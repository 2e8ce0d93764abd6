package api

import (
	"io"
	"net"
	"sync"
)

// readAhead bounds the bytes that a watched connection reads in advance.
const readAhead = 64 << 10

// watchedConn reads ahead of its reader, so that the end of a client is seen without a reader: SPDY stops reading
// after a goodbye, and a command may never read its stdin. A client that has sent more than readAhead unread bytes is
// seen to go only once they are read.
type watchedConn struct {
	net.Conn
	gone func()
	done chan struct{} // closed when nothing is read from the connection any more

	mu      sync.Mutex
	changed sync.Cond // of what follows
	ahead   []byte
	err     error // of the connection, after what was read ahead
	closed  bool
}

// watch begins to read from a connection. Its owner closes it and waits for done.
func watch(conn net.Conn, gone func()) *watchedConn {
	c := &watchedConn{Conn: conn, gone: gone, done: make(chan struct{})}
	c.changed.L = &c.mu
	go c.read()
	return c
}

func (c *watchedConn) read() {
	defer close(c.done)
	defer c.gone()
	buffer := make([]byte, readAhead)
	for {
		c.mu.Lock()
		for len(c.ahead) == readAhead && !c.closed {
			c.changed.Wait()
		}
		room := readAhead - len(c.ahead)
		c.mu.Unlock()
		if room == 0 {
			return // closed
		}
		n, err := c.Conn.Read(buffer[:room])
		c.mu.Lock()
		if c.closed { // from this side, which is no failure
			err = io.EOF
		}
		c.ahead, c.err = append(c.ahead, buffer[:n]...), err
		c.changed.Broadcast()
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *watchedConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.ahead) == 0 && c.err == nil && !c.closed {
		c.changed.Wait()
	}
	switch {
	case len(c.ahead) > 0:
	case c.err != nil:
		return 0, c.err
	default:
		return 0, io.EOF // closed
	}
	n := copy(p, c.ahead)
	c.ahead = c.ahead[:copy(c.ahead, c.ahead[n:])]
	c.changed.Broadcast()
	return n, nil
}

// Write takes a failure for the end of the client, which the protocols don't tell; see spdyConn.next.
func (c *watchedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		c.gone()
	}
	return n, err
}

// Close never fails: spdystream keeps a failure for a second until it is asked for, which never happens.
func (c *watchedConn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.changed.Broadcast()
	c.mu.Unlock()
	_ = c.Conn.Close()
	return nil
}
