package api

import (
	"bufio"
	"fmt"
	"net"
	"net/http"

	"golang.org/x/net/websocket"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
	"k8s.io/apimachinery/pkg/util/httpstream/wsstream"
	"k8s.io/apimachinery/pkg/util/portforward"
)

// serveTunnel serves a port-forward by SPDY in the binary messages of a WebSocket, each way one stream of bytes, as
// kubectl asks for it (KEP-4006; the client's end is TunnelingConnection in k8s.io/client-go, tools/portforward).
func serveTunnel(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter, *http.Request)) {
	websocket.Server{
		Handshake: func(config *websocket.Config, _ *http.Request) error {
			for _, protocol := range config.Protocol {
				if protocol == portforward.WebsocketsSPDYTunnelingPortForwardV1 {
					config.Protocol = []string{protocol}
					return nil
				}
			}
			return fmt.Errorf("protocols: found %q, want %s", config.Protocol, portforward.WebsocketsSPDYTunnelingPortForwardV1)
		},
		Handler: func(ws *websocket.Conn) {
			ws.PayloadType = websocket.BinaryFrame
			inner := r.Clone(r.Context())
			inner.Method = http.MethodPost
			for _, name := range []string{wsstream.WebSocketProtocolHeader, "Sec-Websocket-Key", "Sec-Websocket-Version"} {
				inner.Header.Del(name)
			}
			inner.Header.Set(httpstream.HeaderConnection, httpstream.HeaderUpgrade)
			inner.Header.Set(httpstream.HeaderUpgrade, spdy.HeaderSpdy31)
			inner.Header.Set(httpstream.HeaderProtocolVersion, portforward.PortForwardV1Name)
			serve(&tunnelWriter{ws: ws, header: http.Header{}}, inner)
		},
	}.ServeHTTP(w, r)
}

// tunnelWriter is the response to the SPDY request inside: agreed to already, by the answer to the WebSocket request.
type tunnelWriter struct {
	ws     *websocket.Conn
	header http.Header
}

func (t *tunnelWriter) Header() http.Header         { return t.header }
func (t *tunnelWriter) WriteHeader(int)             {}
func (t *tunnelWriter) Write(p []byte) (int, error) { return len(p), nil }

// Hijack implements http.Hijacker.
func (t *tunnelWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return tunnelConn{t.ws}, bufio.NewReadWriter(bufio.NewReader(t.ws), bufio.NewWriter(t.ws)), nil
}

// tunnelConn never fails to close; see watchedConn.
type tunnelConn struct{ *websocket.Conn }

func (c tunnelConn) Close() error {
	_ = c.Conn.Close()
	return nil
}
