package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
)

// tool is a container of three commands: size prints the first size of the terminal, all reads stdin to its end and
// five its first five bytes, and both end with exit code 3.
func tool(ctx context.Context, _, _, _ string, cmd []string, a AttachIO) error {
	in := a.Stdin()
	switch cmd[0] {
	case "size":
		select {
		case size := <-a.Resize():
			_, err := fmt.Fprintf(a.Stdout(), "%dx%d", size.Width, size.Height)
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	case "five":
		in = io.LimitReader(in, 5)
	}
	word, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.Stdout(), "read %s", word); err != nil {
		return err
	}
	if _, err := io.WriteString(a.Stderr(), "beside it"); err != nil {
		return err
	}
	return exec.CodeExitError{Err: errors.New("three"), Code: 3}
}

// Each version over SPDY, by client-go's own client for it. Version 1 can't end stdin and never tells an error.
func TestVersionsOverSPDY(t *testing.T) {
	for _, c := range []struct {
		protocol, command, failure string
		resizes                    bool
	}{
		{"v4.channel.k8s.io", "all", "command terminated with exit code 3", true},
		{"v3.channel.k8s.io", "all", "command terminated with non-zero exit code: three", true},
		{"v2.channel.k8s.io", "all", "command terminated with non-zero exit code: three", false},
		{"channel.k8s.io", "five", "", false},
	} {
		t.Run(c.protocol, func(t *testing.T) {
			_, config := serve(t, PodHandlerConfig{RunInContainer: tool}, ServeOptions{})
			run := func(query string, o remotecommand.StreamOptions) error {
				u, err := url.Parse(config.Host + "/exec/shop/web-0/app?output=1&" + query)
				if err != nil {
					t.Fatal(err)
				}
				transport, upgrader, err := spdy.RoundTripperFor(config)
				if err != nil {
					t.Fatal(err)
				}
				executor, err := remotecommand.NewSPDYExecutorForProtocols(transport, upgrader, "POST", u, c.protocol)
				if err != nil {
					t.Fatal(err)
				}
				return executor.StreamWithContext(t.Context(), o)
			}
			var out, errs bytes.Buffer
			err := run("input=1&error=1&command="+c.command, remotecommand.StreamOptions{Stdin: strings.NewReader("hello"), Stdout: &out, Stderr: &errs})
			if (err != nil) != (c.failure != "") || err != nil && !strings.Contains(err.Error(), c.failure) {
				t.Errorf("error %v, want %q", err, c.failure)
			}
			if out.String() != "read hello" || errs.String() != "beside it" {
				t.Errorf("stdout %q and stderr %q, want what the command writes", out.String(), errs.String())
			}
			if !c.resizes {
				return
			}
			queue := make(sizes, 1)
			queue <- remotecommand.TerminalSize{Width: 80, Height: 24}
			close(queue)
			out.Reset()
			if err := run("tty=1&command=size", remotecommand.StreamOptions{Stdout: &out, Tty: true, TerminalSizeQueue: queue}); err != nil {
				t.Error(err)
			}
			if out.String() != "80x24" {
				t.Errorf("the terminal shows %q, want its size", out.String())
			}
		})
	}
}

// dialWebSocket opens a WebSocket and offers the protocols.
func dialWebSocket(t *testing.T, config *rest.Config, path string, protocols ...string) (*websocket.Conn, error) {
	t.Helper()
	secure, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	c, err := websocket.NewConfig("wss"+strings.TrimPrefix(config.Host, "https")+path, config.Host)
	if err != nil {
		t.Fatal(err)
	}
	c.TlsConfig = secure
	c.Protocol = slices.DeleteFunc(protocols, func(name string) bool { return name == "" })
	return c.DialContext(t.Context())
}

// sendChannel sends the bytes of a channel.
func sendChannel(t *testing.T, ws *websocket.Conn, text bool, channel byte, data string) {
	t.Helper()
	message := any(append([]byte{channel}, data...))
	if text {
		message = string(rune('0'+channel)) + base64.StdEncoding.EncodeToString([]byte(data))
	}
	if err := websocket.Message.Send(ws, message); err != nil {
		t.Fatal(err)
	}
}

// readChannels reads until the server closes the WebSocket and returns what came by each channel.
func readChannels(t *testing.T, ws *websocket.Conn, text bool) map[byte]string {
	t.Helper()
	got := map[byte]string{}
	for {
		var message []byte
		if err := websocket.Message.Receive(ws, &message); err != nil {
			return got
		}
		if len(message) == 0 {
			t.Fatal("found a message without a channel")
		}
		channel, data := message[0], message[1:]
		if text {
			var err error
			if data, err = base64.StdEncoding.DecodeString(string(data)); err != nil {
				t.Fatal(err)
			}
			channel -= '0'
		}
		got[channel] += string(data)
	}
}

// Each version over WebSocket. Version 5 alone can end stdin; those before 4 have no exit codes.
func TestVersionsOverWebSocket(t *testing.T) {
	for _, c := range []struct {
		protocol                 string
		text, structured, closes bool
	}{
		{"", false, false, false},
		{"channel.k8s.io", false, false, false},
		{"base64.channel.k8s.io", true, false, false},
		{"v4.channel.k8s.io", false, true, false},
		{"v4.base64.channel.k8s.io", true, true, false},
		{"v5.channel.k8s.io", false, true, true},
	} {
		t.Run("protocol "+c.protocol, func(t *testing.T) {
			_, config := serve(t, PodHandlerConfig{RunInContainer: tool}, ServeOptions{})
			check := func(got, want map[byte]string, status metav1.Status) {
				t.Helper()
				if c.structured {
					var found metav1.Status
					if err := json.Unmarshal([]byte(got[3]), &found); err != nil {
						t.Errorf("status %q: %v", got[3], err)
					}
					if diff := cmp.Diff(status, found); diff != "" {
						t.Errorf("status (-want +got):\n%s", diff)
					}
					delete(got, 3)
				} else if status.Message != "" {
					want[3] = status.Message
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("channels (-want +got):\n%s", diff)
				}
			}
			path, command := "/exec/shop/web-0/app?output=1", "five"
			if c.closes {
				command = "all"
			}
			ws, err := dialWebSocket(t, config, path+"&input=1&error=1&command="+command, c.protocol)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = ws.Close() }()
			sendChannel(t, ws, c.text, 0, "hello")
			if c.closes {
				sendChannel(t, ws, false, 255, "\x00")
			}
			check(readChannels(t, ws, c.text), map[byte]string{1: "read hello", 2: "beside it"}, metav1.Status{
				Status: "Failure", Reason: "NonZeroExitCode", Message: "command terminated with non-zero exit code: three",
				Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "ExitCode", Message: "3"}}},
			})

			terminal, err := dialWebSocket(t, config, path+"&tty=1&command=size", c.protocol)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = terminal.Close() }()
			sendChannel(t, terminal, c.text, 4, `{"Width":80,"Height":24}`)
			check(readChannels(t, terminal, c.text), map[byte]string{1: "80x24"}, metav1.Status{Status: "Success"})
		})
	}
}

// Version 5 is taken where it is offered, at whatever place; versions 2 and 3 don't exist over WebSocket.
func TestWebSocketNegotiation(t *testing.T) {
	_, config := serve(t, everything(), ServeOptions{})
	path := "/exec/shop/web-0/app?output=1&command=ls"
	ws, err := dialWebSocket(t, config, path, "v4.channel.k8s.io", "v5.channel.k8s.io")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.Close() }()
	if got := ws.Config().Protocol; !slices.Equal(got, []string{"v5.channel.k8s.io"}) {
		t.Errorf("protocol %q, want version 5", got)
	}
	if other, err := dialWebSocket(t, config, path, "v3.channel.k8s.io"); err == nil {
		_ = other.Close()
		t.Error("version 3 was accepted, want it refused")
	}
}

// askUpgrade sends a request for a stream to a handler that is going to refuse it.
func askUpgrade(path, protocol string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", path, nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", protocol)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	PodHandler(everything(), false).ServeHTTP(w, r)
	return w
}

// A client has to name a version that the server knows, and is told which those are.
func TestSPDYNegotiation(t *testing.T) {
	for path, known := range map[string][]string{
		"/exec/shop/web-0/app?output=1&command=ls": {"v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"},
		"/portForward/shop/web-0":                  {"portforward.k8s.io"},
	} {
		if w := askUpgrade(path, "SPDY/3.1", nil); w.Code != http.StatusBadRequest {
			t.Errorf("%s without a version: %d, want 400", path, w.Code)
		}
		w := askUpgrade(path, "SPDY/3.1", http.Header{"X-Stream-Protocol-Version": {"v9.channel.k8s.io"}})
		if w.Code != http.StatusForbidden {
			t.Errorf("%s with an unknown version: %d, want 403", path, w.Code)
		}
		if diff := cmp.Diff(known, w.Header()["X-Accepted-Stream-Protocol-Versions"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if w := askUpgrade(path, "SPDY/2", http.Header{"X-Stream-Protocol-Version": known}); w.Code != http.StatusBadRequest {
			t.Errorf("%s over another protocol: %d, want 400", path, w.Code)
		}
	}
}

// dialExec opens a connection for an exec that wants stdout.
func dialExec(t *testing.T, s *Server, config *rest.Config, protocol string) httpstream.Connection {
	t.Helper()
	dialer, err := spdyDialer(config, &url.URL{
		Scheme: "https", Host: s.Address(), Path: "/exec/shop/web-0/app", RawQuery: "command=ls&output=1",
	})
	if err != nil {
		t.Fatal(err)
	}
	conn, _, err := dialer.Dial(protocol)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// What a version doesn't know and what is there already is refused, and the exec begins with the last stream it wants.
func TestExecRefusesStreams(t *testing.T) {
	for protocol, refused := range map[string][]string{
		"v4.channel.k8s.io": {"error", "data", ""},
		"v2.channel.k8s.io": {"error", "resize"},
	} {
		s, config := serve(t, everything(), ServeOptions{})
		conn := dialExec(t, s, config, protocol)
		errs, err := conn.CreateStream(http.Header{"streamType": {"error"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range refused {
			if _, err := conn.CreateStream(http.Header{"streamType": {kind}}); err == nil {
				t.Errorf("%s: a stream of kind %q beside that for errors was accepted, want it refused", protocol, kind)
			}
		}
		if _, err := conn.CreateStream(http.Header{"streamType": {"stdout"}}); err != nil {
			t.Error(err)
		}
		if text, err := io.ReadAll(errs); err != nil || protocol == "v4.channel.k8s.io" && !strings.Contains(string(text), "Success") {
			t.Errorf("%s: status %q, %v, want success", protocol, text, err)
		}
		_ = conn.Close()
	}
}

// A client that doesn't open its streams is disconnected, and nothing runs.
func TestExecCreationTimeout(t *testing.T) {
	s, config := serve(t, PodHandlerConfig{
		RunInContainer: func(context.Context, string, string, string, []string, AttachIO) error {
			t.Error("the command runs without its streams")
			return nil
		},
		StreamIdleTimeout: time.Hour, StreamCreationTimeout: 10 * time.Millisecond,
	}, ServeOptions{})
	conn := dialExec(t, s, config, "v4.channel.k8s.io")
	<-conn.CloseChan()
	_ = conn.Close()
}

// A size of any length is not kept, and what follows it doesn't hold up the connection.
func TestSizesAreBounded(t *testing.T) {
	a := &attachIO{tty: true, resize: make(chan TermSize, 1)}
	stream := strings.NewReader(`{"Width":80,"Height":24} "` + strings.Repeat("x", 100*maxSizeText))
	a.readSizes(stream)
	if got, want := <-a.resize, (TermSize{Width: 80, Height: 24}); got != want {
		t.Errorf("size %v, want %v", got, want)
	}
	if stream.Len() > 0 {
		t.Errorf("%d bytes are unread, want none", stream.Len())
	}
}
