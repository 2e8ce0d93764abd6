package testcluster

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"
)

// echo serves connections that get back what they send, and returns its address.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		work.Wait()
	})
	return listener.Addr().String()
}

func echoProxy(t *testing.T) *Proxy {
	t.Helper()
	p, err := newProxy(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil { // a test that hangs shall say where
		t.Fatal(err)
	}
	return conn
}

func say(t *testing.T, conn net.Conn, word string) error {
	t.Helper()
	if _, err := io.WriteString(conn, word); err != nil {
		return err
	}
	back := make([]byte, len(word))
	if _, err := io.ReadFull(conn, back); err != nil {
		return err
	}
	if string(back) != word {
		t.Errorf("echo: found %q, want %q", back, word)
	}
	return nil
}

func TestProxyCut(t *testing.T) {
	p := echoProxy(t)
	conn := dial(t, p)
	if err := say(t, conn, "hello"); err != nil {
		t.Fatal(err)
	}
	if got := p.Connections(); got != 1 {
		t.Errorf("connections: found %d, want 1", got)
	}
	p.Cut()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read after Cut: found %v, want a reset", err)
	}
	if err := say(t, dial(t, p), "again"); err != nil {
		t.Errorf("a new connection after Cut: %v", err)
	}
}

func TestProxyCutAfter(t *testing.T) {
	p := echoProxy(t)
	conn := dial(t, p)
	p.CutAfter(8)
	if err := say(t, conn, "hello"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "world"); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(conn)
	if len(rest) > 3 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("found %q, %v, want at most three more bytes and a reset", rest, err)
	}
	if err := say(t, dial(t, p), "no limit any more"); err != nil {
		t.Errorf("a new connection after the cut: %v", err)
	}
}

func TestProxyStall(t *testing.T) {
	p := echoProxy(t)
	conn := dial(t, p)
	if err := say(t, conn, "hello"); err != nil {
		t.Fatal(err)
	}
	p.Stall()
	if _, err := io.WriteString(conn, "stuck"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := conn.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("read while stalled: found %v, want nothing to arrive", err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	back := make([]byte, 5)
	if _, err := io.ReadFull(conn, back); err != nil || string(back) != "stuck" {
		t.Errorf("after Resume: found %q, %v, want what was stuck", back, err)
	}
}

func TestProxyRefuse(t *testing.T) {
	p := echoProxy(t)
	conn := dial(t, p)
	if err := say(t, conn, "hello"); err != nil {
		t.Fatal(err)
	}
	if err := p.Refuse(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read after Refuse: found %v, want a reset", err)
	}
	if _, err := net.Dial("tcp", p.address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial after Refuse: found %v, want it refused", err)
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := say(t, dial(t, p), "again"); err != nil {
		t.Errorf("a new connection after Resume: %v", err)
	}
}
