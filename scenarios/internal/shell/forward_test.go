package shell_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// forwardTo connects to a port of web-0; done has how that ended.
func forwardTo(t *testing.T, port int32) (conn net.Conn, done <-chan error) {
	t.Helper()
	s, _, _ := scripted(time.Minute)
	near, far := net.Pipe()
	if err := near.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- s.Forward(context.Background(), "shop", "web-0", port, far)
		_ = far.Close()
	}()
	return near, ended
}

func TestForwardHTTP(t *testing.T) {
	conn, done := forwardTo(t, 8080)
	in := bufio.NewReader(conn)
	for _, c := range []struct{ method, path, body, want string }{
		{"GET", "/a?b=c", "", "pod shop/web-0 (9f1c) on node ip-10-0-1-10, port 8080: GET /a\n"},
		{"POST", "/orders", "three pieces", "pod shop/web-0 (9f1c) on node ip-10-0-1-10, port 8080: POST /orders\n"},
		{"HEAD", "/", "", ""},
	} {
		request, err := http.NewRequest(c.method, "http://web-0"+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if err := request.Write(conn); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(in, request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != 200 || string(text) != c.want {
			t.Errorf("%s %s: %d %q, %v, want 200 %q", c.method, c.path, response.StatusCode, text, err, c.want)
		}
	}
	_ = conn.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestForwardEcho(t *testing.T) {
	conn, done := forwardTo(t, 6379)
	in := bufio.NewReader(conn)
	for _, line := range []string{"GE\n", "GET /is/no/beginning/any/more\n"} {
		if _, err := io.WriteString(conn, line); err != nil {
			t.Fatal(err)
		}
		if got, err := in.ReadString('\n'); got != line {
			t.Errorf("echo %q, %v, want %q", got, err, line)
		}
	}
	_ = conn.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A client can't make the answer grow, nor wait for ever in it.
func TestForwardHostile(t *testing.T) {
	conn, done := forwardTo(t, 80)
	go func() {
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\nX-Long: "+strings.Repeat("x", 100_000))
	}()
	if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, " 431 ") {
		t.Errorf("a head of 100 kB: %q, %v, want 431", line, err)
	}
	_ = conn.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}

	conn, done = forwardTo(t, 80)
	go func() {
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n"+strings.Repeat("x", 2_000_000))
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || !response.Close {
		t.Fatalf("a body of 2 MB: %+v, %v, want an answer that closes", response, err)
	}
	if _, err := io.ReadAll(response.Body); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	_ = conn.Close()

	conn, done = forwardTo(t, 80)
	if _, err := io.WriteString(conn, "GET no HTTP at all\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a bad request: %v, want the end", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A connection ends with its pod.
func TestForwardEnds(t *testing.T) {
	s, pods, clock := scripted(time.Minute)
	near, far := net.Pipe()
	defer func() { _ = near.Close() }()
	done := make(chan error, 1)
	go func() { done <- s.Forward(t.Context(), "shop", "web-0", 80, far) }()
	untilWaiting(t.Context(), clock)
	pods.change(terminate(clock.Now(), 0, ""))
	clock.Step(time.Second)
	if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the connection ended with %v, want it closed", err)
	}
	if err := s.Forward(t.Context(), "shop", "web-1", 80, far); err == nil {
		t.Error("a pod that isn't there has a port")
	}
}
