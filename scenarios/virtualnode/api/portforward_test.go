package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
)

// dialers are the two ways of kubectl port-forward.
var dialers = map[string]func(*rest.Config, *url.URL) (httpstream.Dialer, error){
	"SPDY": spdyDialer,
	"tunnel": func(c *rest.Config, u *url.URL) (httpstream.Dialer, error) {
		return portforward.NewSPDYOverWebsocketDialer(u, c)
	},
}

func spdyDialer(c *rest.Config, u *url.URL) (httpstream.Dialer, error) {
	transport, upgrader, err := spdy.RoundTripperFor(c)
	if err != nil {
		return nil, err
	}
	return spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", u), nil
}

func forwardURL(s *Server) *url.URL {
	return &url.URL{Scheme: "https", Host: s.Address(), Path: "/portForward/shop/web-0"}
}

// Two ports at once, many connections each, one of which fails; all end when the client goes.
func TestPortForward(t *testing.T) {
	for name, dial := range dialers {
		t.Run(name, func(t *testing.T) {
			ended := make(chan struct{}, 1)
			s, config := serve(t, PodHandlerConfig{PortForward: func(ctx context.Context, namespace, pod string, port int32, stream io.ReadWriteCloser) error {
				switch port {
				case 81:
					return errors.New("connection refused")
				case 82:
					panic("of a handler")
				case 83:
					if _, err := stream.Write([]byte("!")); err != nil {
						return err
					}
					<-ctx.Done()
					ended <- struct{}{}
					return ctx.Err()
				}
				word, err := io.ReadAll(io.LimitReader(stream, 5))
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(stream, "%s from %s/%s:%d", word, namespace, pod, port)
				return err
			}}, ServeOptions{})
			dialer, err := dial(config, forwardURL(s))
			if err != nil {
				t.Fatal(err)
			}
			stop, ready := make(chan struct{}), make(chan struct{})
			var errs bytes.Buffer
			forward, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{"0:80", "0:81", "0:82", "0:83"}, stop, ready, io.Discard, &errs)
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- forward.ForwardPorts() }()
			select {
			case <-ready:
			case err := <-done:
				t.Fatal(err)
			}
			ports, err := forward.GetPorts()
			if err != nil {
				t.Fatal(err)
			}
			say := func(port int) string {
				conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ports[port].Local))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				if _, err := conn.Write([]byte("hello")); err != nil {
					t.Fatal(err)
				}
				answer, _ := io.ReadAll(conn)
				return string(answer)
			}
			for range 3 {
				if got, want := say(0), "hello from shop/web-0:80"; got != want {
					t.Errorf("answer %q, want %q", got, want)
				}
			}
			waiting, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ports[3].Local))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = waiting.Close() }()
			if _, err := waiting.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			if got := say(0); got != "hello from shop/web-0:80" {
				t.Errorf("answer beside another connection %q", got)
			}
			close(stop)
			if err := <-done; err != nil {
				t.Error(err)
			}
			<-ended
		})
	}
}

// What a connection fails of is told on its error stream.
func TestPortForwardFails(t *testing.T) {
	s, config := serve(t, PodHandlerConfig{PortForward: func(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
		if _, err := stream.Read(make([]byte, 1)); err != nil { // both streams stand now
			return err
		}
		if port == 82 {
			panic("of a handler")
		}
		return errors.New("connection refused")
	}}, ServeOptions{})
	for port, want := range map[string]string{"81": "connection refused", "82": "panic: of a handler"} {
		conn := dialSPDY(t, s, config)
		errs, data := openPair(t, conn, port)
		if _, err := data.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(errs)
		if !strings.Contains(string(text), want) {
			t.Errorf("port %s: %q, %v, want %q", port, text, err, want)
		}
		_ = conn.Close()
	}
}

func dialSPDY(t *testing.T, s *Server, config *rest.Config) httpstream.Connection {
	t.Helper()
	dialer, err := spdyDialer(config, forwardURL(s))
	if err != nil {
		t.Fatal(err)
	}
	conn, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func openPair(t *testing.T, conn httpstream.Connection, port string) (errs, data httpstream.Stream) {
	t.Helper()
	var streams [2]httpstream.Stream
	for i, kind := range []string{"error", "data"} {
		var err error
		if streams[i], err = conn.CreateStream(http.Header{"streamType": {kind}, "port": {port}, "requestID": {"1"}}); err != nil {
			t.Fatal(err)
		}
	}
	return streams[0], streams[1]
}

// A client that opens one of two streams is told so after the time for opening, not after that for silence.
func TestPortForwardCreationTimeout(t *testing.T) {
	p := everything()
	p.StreamIdleTimeout, p.StreamCreationTimeout = time.Hour, 10*time.Millisecond
	s, config := serve(t, p, ServeOptions{})
	conn := dialSPDY(t, s, config)
	defer func() { _ = conn.Close() }()
	errs, err := conn.CreateStream(http.Header{"streamType": {"error"}, "port": {"80"}, "requestID": {"1"}})
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 100)
	n, err := errs.Read(text)
	if !strings.Contains(string(text[:n]), "timed out waiting for streams") {
		t.Errorf("read %q, %v", text[:n], err)
	}
}

// A silent connection ends after the time for silence, not after that for opening.
func TestPortForwardIdleTimeout(t *testing.T) {
	p := everything()
	p.StreamIdleTimeout, p.StreamCreationTimeout = 10*time.Millisecond, time.Hour
	s, config := serve(t, p, ServeOptions{})
	conn := dialSPDY(t, s, config)
	defer func() { _ = conn.Close() }()
	select {
	case <-conn.CloseChan():
	case <-time.After(5 * time.Minute):
		t.Error("the connection still stands")
	}
}
