package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/httpstream"
)

// tellPort forwards a connection to something that says its port and hangs up.
func tellPort(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	_, err := fmt.Fprint(stream, port)
	return err
}

func mustRead(t *testing.T, stream io.Reader, want string) {
	t.Helper()
	if text, err := io.ReadAll(stream); err != nil || string(text) != want {
		t.Errorf("read %q, %v, want %q", text, err, want)
	}
}

func mustOpen(t *testing.T, conn httpstream.Connection, header http.Header) httpstream.Stream {
	t.Helper()
	stream, err := conn.CreateStream(header)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// A stream without a port or a kind is refused, and the connection goes on.
func TestForwardHeaders(t *testing.T) {
	s, config := serve(t, PodHandlerConfig{PortForward: tellPort}, ServeOptions{})
	conn := dialSPDY(t, s, config)
	defer func() { _ = conn.Close() }()
	for name, header := range map[string]http.Header{
		"no port":      {"streamType": {"error"}},
		"port 0":       {"streamType": {"error"}, "port": {"0"}},
		"port 65536":   {"streamType": {"error"}, "port": {"65536"}},
		"negative":     {"streamType": {"error"}, "port": {"-1"}},
		"no number":    {"streamType": {"error"}, "port": {"http"}},
		"no kind":      {"port": {"80"}},
		"unknown kind": {"streamType": {"stdin"}, "port": {"80"}},
		"long headers": {"streamType": {"error"}, "port": {"80"}, "requestID": {strings.Repeat("1", maxStreamHeaders)}},
	} {
		if _, err := conn.CreateStream(header); err == nil {
			t.Errorf("%s: the stream was accepted, want it refused", name)
		}
	}
	for _, port := range []string{"1", "65535"} {
		errs, data := openPair(t, conn, port)
		mustRead(t, data, port)
		mustRead(t, errs, "")
	}
}

// Clients that name no request open the two streams of a connection one after the other.
func TestForwardWithoutRequest(t *testing.T) {
	s, config := serve(t, PodHandlerConfig{PortForward: tellPort, StreamCreationTimeout: time.Hour}, ServeOptions{})
	conn := dialSPDY(t, s, config)
	defer func() { _ = conn.Close() }()
	for _, port := range []string{"80", "81"} {
		mustOpen(t, conn, http.Header{"streamType": {"error"}, "port": {port}})
		mustRead(t, mustOpen(t, conn, http.Header{"streamType": {"data"}, "port": {port}}), port)
	}
}

// The second stream of a kind is reset, which the first for errors tells, and the pair can still become complete.
func TestForwardSecondStream(t *testing.T) {
	s, config := serve(t, PodHandlerConfig{PortForward: tellPort, StreamCreationTimeout: time.Hour}, ServeOptions{})
	conn := dialSPDY(t, s, config)
	defer func() { _ = conn.Close() }()
	header := http.Header{"streamType": {"error"}, "port": {"80"}, "requestID": {"1"}}
	errs := mustOpen(t, conn, header)
	mustRead(t, mustOpen(t, conn, header), "")
	text := make([]byte, 100)
	if n, err := errs.Read(text); !strings.Contains(string(text[:n]), "error stream already assigned") {
		t.Errorf("read %q, %v, want that the stream is there already", text[:n], err)
	}
	mustRead(t, mustOpen(t, conn, http.Header{"streamType": {"data"}, "port": {"80"}, "requestID": {"1"}}), "80")
}

// A stream for data whose other half doesn't come is reset.
func TestForwardDataAlone(t *testing.T) {
	p := everything()
	p.StreamIdleTimeout, p.StreamCreationTimeout = time.Hour, 10*time.Millisecond
	s, config := serve(t, p, ServeOptions{})
	conn := dialSPDY(t, s, config)
	defer func() { _ = conn.Close() }()
	mustRead(t, mustOpen(t, conn, http.Header{"streamType": {"data"}, "port": {"80"}, "requestID": {"1"}}), "")
}

// Three ports at once, of which one fails and one panics: each channel begins with its port, in two bytes.
func TestForwardOverWebSocket(t *testing.T) {
	_, config := serve(t, PodHandlerConfig{PortForward: func(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
		word := make([]byte, 5)
		if _, err := io.ReadFull(stream, word); err != nil {
			return err
		}
		switch port {
		case 81:
			return errors.New("connection refused")
		case 258:
			panic("of a handler")
		}
		_, err := fmt.Fprintf(stream, "%s from %d", word, port)
		return err
	}}, ServeOptions{})
	want := map[byte]string{
		0: "\x50\x00hello from 80", 1: "\x50\x00",
		2: "\x51\x00", 3: "\x51\x00error forwarding port 81 to pod web-0, uid : connection refused",
		4: "\x02\x01", 5: "\x02\x01error forwarding port 258 to pod web-0, uid : panic: of a handler",
	}
	for protocol, text := range map[string]bool{"": false, "v4.channel.k8s.io": false, "v4.base64.channel.k8s.io": true} {
		ws, err := dialWebSocket(t, config, "/portForward/shop/web-0?port=80,81&port=258", protocol)
		if err != nil {
			t.Fatal(err)
		}
		for channel := byte(0); channel < 6; channel += 2 {
			sendChannel(t, ws, text, channel, "hello")
		}
		if diff := cmp.Diff(want, readChannels(t, ws, text)); diff != "" {
			t.Errorf("protocol %q (-want +got):\n%s", protocol, diff)
		}
		_ = ws.Close()
	}
}

// What a WebSocket's request says of ports is checked before the stream.
func TestForwardedPorts(t *testing.T) {
	for name, query := range map[string]string{
		"none": "", "empty": "?port=", "empty in a list": "?port=80,", "0": "?port=0", "65536": "?port=65536", "no number": "?port=http",
		"too many": "?port=1" + strings.Repeat(",1", maxPorts),
	} {
		if w := askUpgrade("/portForward/shop/web-0"+query, "websocket", nil); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "port") {
			t.Errorf("%s: %d %q, want 400", name, w.Code, w.Body)
		}
	}
}

// One connection more than allowed is told so, and its end makes room.
func TestForwardLimit(t *testing.T) {
	f := &forwarder{pod: "web-0", slots: make(chan struct{}, 1)}
	f.run = func(int32, io.ReadWriteCloser) error { return f.forward(81, nil) }
	for range 2 {
		if err := f.forward(80, nil); err == nil || !strings.Contains(err.Error(), "found 1 connections open") {
			t.Errorf("two connections: %v, want that one is too many", err)
		}
	}
	f.run = func(int32, io.ReadWriteCloser) error { return nil }
	if err := f.forward(80, nil); err != nil {
		t.Error(err)
	}
}

// streamOf is a stream of which nothing is known but its number.
type streamOf struct {
	httpstream.Stream
	id uint32
}

func (s streamOf) Headers() http.Header { return nil }
func (s streamOf) Identifier() uint32   { return s.id }

// Streams are accepted up to a number, again when one has ended, and never after the last.
func TestSPDYStreamLimit(t *testing.T) {
	c := newSPDYConn(t.Context(), 2, func(httpstream.Stream) error { return nil })
	var owner sync.WaitGroup
	defer owner.Wait()
	defer c.stop()
	owner.Go(func() {
		for {
			select {
			case <-c.arrivals:
			case <-c.accepting.Done():
				return
			}
		}
	})
	accepts := func(id uint32) bool { return c.accept(streamOf{id: id}, nil) == nil }
	if !accepts(1) || !accepts(3) {
		t.Error("two streams: one was refused, want both accepted")
	}
	if accepts(5) {
		t.Error("the third stream was accepted, want it refused")
	}
	c.forget(streamOf{id: 1})
	if !accepts(7) {
		t.Error("the stream after one that has ended was refused, want it accepted")
	}
	c.forget(streamOf{id: 3})
	c.stop()
	if accepts(9) {
		t.Error("a stream after the last was accepted, want it refused")
	}
}
