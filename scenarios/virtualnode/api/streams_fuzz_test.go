package api

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// streamWay is an endpoint, and the protocol that a client asks to speak with it.
type streamWay struct{ upgrade, path, protocol string }

const (
	execBySPDY = iota
	oldExecBySPDY
	terminalBySPDY
	forwardBySPDY
	execByWebSocket
	execByBase64
	terminalByWebSocket
	forwardByWebSocket
	forwardByBase64
	forwardByTunnel
)

const (
	execPath     = "/exec/shop/web-0/app?command=cat&input=1&output=1&error=1"
	terminalPath = "/attach/shop/web-0/app?input=1&output=1&tty=1"
	forwardPath  = "/portForward/shop/web-0"
)

var streamWays = [...]streamWay{
	execBySPDY:          {"SPDY/3.1", execPath, "v4.channel.k8s.io"},
	oldExecBySPDY:       {"SPDY/3.1", execPath, "channel.k8s.io"},
	terminalBySPDY:      {"SPDY/3.1", terminalPath, "v4.channel.k8s.io"},
	forwardBySPDY:       {"SPDY/3.1", forwardPath, "portforward.k8s.io"},
	execByWebSocket:     {"websocket", execPath, "v5.channel.k8s.io"},
	execByBase64:        {"websocket", execPath, "v4.base64.channel.k8s.io"},
	terminalByWebSocket: {"websocket", terminalPath, "v4.channel.k8s.io"},
	forwardByWebSocket:  {"websocket", forwardPath + "?port=80,81", "v4.channel.k8s.io"},
	forwardByBase64:     {"websocket", forwardPath + "?port=80", "v4.base64.channel.k8s.io"},
	forwardByTunnel:     {"websocket", forwardPath, "SPDY/3.1+portforward.k8s.io"},
}

// request is the request that the handler answers with an upgrade.
func (s streamWay) request() []byte {
	method, asks := "POST", "X-Stream-Protocol-Version: "+s.protocol
	if s.upgrade == "websocket" {
		method = "GET"
		asks = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Protocol: " + s.protocol
	}
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: %s\r\n%s\r\n\r\n",
		method, s.path, s.upgrade, asks)
}

// mostSent is less than a watchedConn reads ahead: with more unread bytes, the end of the client isn't seen.
const mostSent = readAhead / 2

// serveBytes serves one stream to a client that sends some bytes, beside its request or after the answer to it, and closes
// once the handler has nothing left to do. It returns what the handler's functions have read. The bubble fails a test that
// leaves a goroutine, and a panic on a goroutine of a library ends the process.
func serveBytes(t *testing.T, way streamWay, early bool, sent []byte) (heard string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var said transcript
		near, far := net.Pipe()
		served := make(chan struct{})
		server := &http.Server{
			ErrorLog: log.New(io.Discard, "", 0),
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(served)
				defer tellPanic(t)
				PodHandler(echoes(t, &said), false).ServeHTTP(w, r)
			}),
		}
		listener := make(pipeListener, 1)
		listener <- panicWitness{far, t}
		close(listener)
		if err := server.Serve(listener); !errors.Is(err, io.EOF) {
			t.Errorf("serve: error %v, want the end of the listener", err)
		}

		var answer bytes.Buffer
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(&answer, near) // until either side closes
		}()
		request := way.request()
		if early {
			request = append(request, sent...)
		}
		_, _ = near.Write(request) // a server that has had enough closes before it has read all
		synctest.Wait()
		if !early {
			_, _ = near.Write(sent)
			synctest.Wait()
		}
		left := time.Now()
		_ = near.Close()
		<-served
		if late := time.Since(left); late > 0 {
			t.Errorf("%s over %s: the handler returned %v after the client had gone, want at once", way.path, way.protocol, late)
		}
		<-read
		if !bytes.HasPrefix(answer.Bytes(), []byte("HTTP/1.1 101 ")) {
			t.Errorf("%s over %s: answer %.100q, want an upgrade", way.path, way.protocol, answer.Bytes())
		}
		heard = said.String()
	})
	return heard
}

// echoes are functions that send back what they read, and write it down.
func echoes(t *testing.T, said io.Writer) PodHandlerConfig {
	attach := func(_ context.Context, _, _, _ string, a AttachIO) error {
		defer tellPanic(t)
		_, err := io.Copy(a.Stdout(), io.TeeReader(a.Stdin(), said))
		return err
	}
	return PodHandlerConfig{
		RunInContainer: func(ctx context.Context, namespace, pod, container string, _ []string, a AttachIO) error {
			return attach(ctx, namespace, pod, container, a)
		},
		AttachToContainer: attach,
		PortForward: func(_ context.Context, _, _ string, _ int32, stream io.ReadWriteCloser) error {
			defer tellPanic(t) // the handler makes an error of it
			_, err := io.Copy(stream, io.TeeReader(stream, said))
			return err
		},
	}
}

// tellPanic is deferred where a panic would get lost.
func tellPanic(t *testing.T) {
	if r := recover(); r != nil {
		t.Errorf("found a panic, want none: %v\n%s", r, debug.Stack())
	}
}

// panicWitness is a connection that tells when a panic closes it: wsstream keeps those of its reader to itself
// (k8s.io/apimachinery, pkg/util/httpstream/wsstream/conn.go, Open).
type panicWitness struct {
	net.Conn
	t *testing.T
}

func (c panicWitness) Close() error {
	callers := make([]uintptr, 100)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for more := true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); frame.Function == "runtime.gopanic" {
			c.t.Errorf("found a panic that closes the connection, want none:\n%s", debug.Stack())
			break
		}
	}
	return c.Conn.Close()
}

// pipeListener accepts what it holds.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	if conn, ok := <-l; ok {
		return conn, nil
	}
	return nil, io.EOF
}

func (pipeListener) Close() error   { return nil }
func (pipeListener) Addr() net.Addr { return nil }

// transcript is written to by several functions.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// The frames of SPDY/3.1 that have names here, and a flag (github.com/moby/spdystream, spdy/types.go).
const (
	synStream, synReply, rstStream, settings, pingFrame, goAway, headersFrame, windowUpdate = 1, 2, 3, 4, 6, 7, 8, 9

	finFlag = 1
)

// spdyFrames are what a client of SPDY/3.1 sends. One compressor packs the headers of a connection; the protocol's
// dictionary isn't needed to read them.
type spdyFrames struct {
	sent   []byte
	packed bytes.Buffer
	packer *zlib.Writer
}

func newSPDYFrames() *spdyFrames {
	s := &spdyFrames{}
	s.packer = zlib.NewWriter(&s.packed)
	return s
}

// control adds a control frame.
func (s *spdyFrames) control(kind uint16, flags byte, body ...byte) *spdyFrames {
	s.sent = binary.BigEndian.AppendUint16(append(s.sent, 0x80, 3), kind)
	s.sent = binary.BigEndian.AppendUint32(s.sent, uint32(flags)<<24|uint32(len(body)))
	s.sent = append(s.sent, body...)
	return s
}

// open adds a stream with names and values of headers.
func (s *spdyFrames) open(id byte, header ...string) *spdyFrames {
	block := binary.BigEndian.AppendUint32(nil, uint32(len(header)/2))
	for _, text := range header {
		block = binary.BigEndian.AppendUint32(block, uint32(len(text)))
		block = append(block, text...)
	}
	s.packed.Reset()
	_, _ = s.packer.Write(block) // into memory, which doesn't fail
	_ = s.packer.Flush()
	return s.control(synStream, 0, append([]byte{0, 0, 0, id, 0, 0, 0, 0, 0, 0}, s.packed.Bytes()...)...)
}

// data adds a data frame.
func (s *spdyFrames) data(id, flags byte, text string) *spdyFrames {
	s.sent = append(s.sent, 0, 0, 0, id)
	s.sent = binary.BigEndian.AppendUint32(s.sent, uint32(flags)<<24|uint32(len(text)))
	s.sent = append(s.sent, text...)
	return s
}

// raw adds bytes.
func (s *spdyFrames) raw(text string) *spdyFrames {
	s.sent = append(s.sent, text...)
	return s
}

// attached opens the streams of an exec or attach, with the identifiers 1, 3 and so on.
func attached(kinds ...string) *spdyFrames {
	s := newSPDYFrames()
	for i, kind := range kinds {
		s.open(byte(2*i+1), "streamtype", kind)
	}
	return s
}

// forwarded opens the streams of one connection to a port.
func forwarded(port string) *spdyFrames {
	return newSPDYFrames().
		open(1, "streamtype", "error", "port", port, "requestid", "1").
		open(3, "streamtype", "data", "port", port, "requestid", "1")
}

// The kinds of WebSocket's frames (RFC 6455, section 5.2).
const wsContinuation, wsText, wsBinary, wsClose, wsPing = 0, 1, 2, 8, 9

// webSocketFrame is a whole message of a client, with a mask of zeros.
func webSocketFrame(kind byte, message string) []byte {
	header := []byte{0x80 | kind, 0x80 | byte(len(message))}
	if len(message) > 125 {
		header = binary.BigEndian.AppendUint16([]byte{0x80 | kind, 0x80 | 126}, uint16(len(message)))
	}
	return slices.Concat(header, make([]byte, 4), []byte(message))
}

// everyChannel has a message for each channel that there is, and for some that there aren't.
func everyChannel(kind, first byte) []byte {
	var sent []byte
	for _, channel := range []byte{0, 1, 2, 3, 4, 5, 6, 127, 254} {
		sent = append(sent, webSocketFrame(kind, string([]byte{first + channel})+"eA==")...)
	}
	return sent
}

// A streamSeed is what a client sends. What its handler's functions read is only compared where heard is set.
type streamSeed struct {
	way   int
	sent  []byte
	heard string
}

func streamSeeds() []streamSeed {
	const size = `{"Width":80,"Height":24}`
	forward := forwarded("80").data(3, finFlag, "hello").sent
	seeds := []streamSeed{
		// What clients send that mean well.
		{execBySPDY, attached("error", "stdin", "stdout", "stderr").data(3, finFlag, "hello").sent, "hello"},
		{oldExecBySPDY, attached("error", "stdin", "stdout", "stderr").data(3, finFlag, "hello").sent, "hello"},
		{terminalBySPDY, attached("error", "stdin", "stdout", "resize").data(7, 0, size).data(3, finFlag, "hello").sent, "hello"},
		{forwardBySPDY, forward, "hello"},
		{execByWebSocket, slices.Concat(webSocketFrame(wsBinary, "\x00hello"), webSocketFrame(wsBinary, "\xff\x00")), "hello"},
		{execByBase64, webSocketFrame(wsText, "0aGVsbG8="), "hello"},
		{terminalByWebSocket, slices.Concat(webSocketFrame(wsBinary, "\x04"+size), webSocketFrame(wsBinary, "\x00hello")), "hello"},
		{forwardByWebSocket, webSocketFrame(wsBinary, "\x02hello"), "hello"},
		{forwardByBase64, webSocketFrame(wsText, "0aGVsbG8="), "hello"},
		{forwardByTunnel, webSocketFrame(wsBinary, string(forward)), "hello"},
		{forwardByTunnel, slices.Concat(webSocketFrame(wsBinary, string(forward[:5])), webSocketFrame(wsBinary, string(forward[5:]))), "hello"},

		// Streams that are lacking, refused, unread, or not what their frames say.
		{execBySPDY, attached("error", "stdin").sent, ""},
		{execBySPDY, attached("error").control(rstStream, 0, 0, 0, 0, 1, 0, 0, 0, 5).control(goAway, 0, 0, 0, 0, 1, 0, 0, 0, 0).sent, ""},
		{execBySPDY, attached("error", "error", "stdin", "resize", "data", "").sent, ""},
		{execBySPDY, attached("error", "stdin", "stdout", "stderr").data(1, 0, "unread").data(5, finFlag, "unread").sent, ""},
		{execBySPDY, attached("error", "stdin", "stdout", "stderr").data(9, 0, "unopened").sent, ""},
		{terminalBySPDY, attached("error", "stdin", "stdout", "resize").data(7, 0, strings.Repeat("{", 2*maxSizeText)).sent, ""},
		{forwardBySPDY, forwarded("0").sent, ""},
		{forwardBySPDY, forwarded("80").open(5, "streamtype", "data", "port", "80", "requestid", "1").data(5, 0, "again").sent, ""},
		{forwardBySPDY, newSPDYFrames().open(1, "streamtype", "data", "port", "80").open(1, "streamtype", "error", "port", "80").sent, ""},
	}
	for _, way := range []int{execBySPDY, forwardBySPDY} {
		for _, frames := range []*spdyFrames{
			newSPDYFrames().control(synReply, 0, 0, 0, 0, 1),
			newSPDYFrames().control(rstStream, 0, 0, 0, 0, 1, 0, 0, 0, 5),
			newSPDYFrames().control(settings, 0, 0x20, 0, 0, 0),
			newSPDYFrames().control(pingFrame, 0, 0, 0, 0, 1).control(pingFrame, 0, 0, 0, 0, 2),
			newSPDYFrames().control(goAway, 0, 0, 0, 0, 1, 0, 0, 0, 0),
			newSPDYFrames().control(headersFrame, finFlag, 0, 0, 0, 1),
			newSPDYFrames().control(windowUpdate, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff),
			newSPDYFrames().control(5, 0),
			// Shorter than its fields, longer than what comes, and without compressed headers.
			newSPDYFrames().control(synStream, 0, 0, 0, 0, 1),
			newSPDYFrames().raw("\x80\x03\x00\x01\x00\xff\xff\xff\x00\x00\x00\x01"),
			newSPDYFrames().raw("\x00\x00\x00\x01\x00\x00\xff\xffdata"),
			newSPDYFrames().control(synStream, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 'x', 'x'),
		} {
			seeds = append(seeds, streamSeed{way, frames.sent, ""})
		}
	}
	for _, way := range []int{execByWebSocket, terminalByWebSocket, forwardByWebSocket, forwardByTunnel} {
		for _, sent := range [][]byte{
			everyChannel(wsBinary, 0),
			webSocketFrame(wsBinary, ""),
			webSocketFrame(wsBinary, "\xff"),
			webSocketFrame(wsBinary, "\xff\xff"),
			webSocketFrame(wsContinuation, "\x00more"),
			webSocketFrame(wsClose, "\x03"),
			webSocketFrame(wsPing, strings.Repeat("x", 126)),
			webSocketFrame(15, "no kind"),
			// One message in two frames, a frame without a mask, and one that is longer than what comes.
			{0x02, 0x81, 0, 0, 0, 0, 0, 0x80, 0x82, 0, 0, 0, 0, 'h', 'i'},
			{0x82, 0x01, 0x00},
			{0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 'x'},
		} {
			seeds = append(seeds, streamSeed{way, sent, ""})
		}
	}
	for _, way := range []int{execByBase64, forwardByBase64} {
		seeds = append(seeds, streamSeed{way, everyChannel(wsText, '0'), ""}, streamSeed{way, webSocketFrame(wsText, "0no base64"), ""})
	}
	return seeds
}

// What well-meaning clients send reaches the handler's functions, so that what is drawn from it can get as far.
func TestStreamSeeds(t *testing.T) {
	for i, seed := range streamSeeds() {
		for _, early := range []bool{false, true} {
			if heard := serveBytes(t, streamWays[seed.way], early, seed.sent); seed.heard != "" && heard != seed.heard {
				t.Errorf("seed %d, beside the request %t: read %q, want %q", i, early, heard, seed.heard)
			}
		}
	}
}

// Whatever a client sends after the upgrade, its handler returns when it has gone, without a panic or a goroutine that is
// left. how names the endpoint with its protocol, and says whether the bytes come beside the request.
func FuzzStreams(f *testing.F) {
	for _, seed := range streamSeeds() {
		f.Add(byte(seed.way), seed.sent)
	}
	f.Add(byte(execBySPDY+len(streamWays)), streamSeeds()[0].sent)
	f.Fuzz(func(t *testing.T, how byte, sent []byte) {
		if len(sent) <= mostSent {
			serveBytes(t, streamWays[int(how)%len(streamWays)], int(how)/len(streamWays)%2 == 1, sent)
		}
	})
}
