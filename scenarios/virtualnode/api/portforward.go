package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream/wsstream"
)

// A PortForwardHandlerFunc carries one connection to a port of a pod and returns when it has ended. The stream is
// closed for it, at its return or when the client goes.
type PortForwardHandlerFunc func(ctx context.Context, namespace, pod string, port int32, stream io.ReadWriteCloser) error

// maxForwards is the number of connections that one client may have open at a time through one port-forward.
const maxForwards = 1024

func portForwardHandler(p PodHandlerConfig) http.Handler {
	if p.PortForward == nil {
		return notImplemented("port-forward")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		namespace, pod := r.PathValue("namespace"), r.PathValue("pod")
		tunnelled := wsstream.IsWebSocketRequestWithTunnelingProtocol(r)
		channelled := wsstream.IsWebSocketRequest(r) && !tunnelled
		var ports []uint16
		var err error
		if channelled {
			ports, err = forwardedPorts(r.URL.Query())
		}
		if refused(w, r, p.CheckContainer, err) {
			return
		}
		u := newUpgrade(w, r)
		f := &forwarder{
			upgrade: u, pod: pod, slots: make(chan struct{}, maxForwards), idle: p.StreamIdleTimeout, creation: p.StreamCreationTimeout,
			run: func(port int32, stream io.ReadWriteCloser) error {
				return p.PortForward(u.ctx, namespace, pod, port, stream)
			},
		}
		defer u.close()
		stop := context.AfterFunc(u.ctx, u.close) // which ends all reads and writes of the connections
		defer stop()
		switch {
		case tunnelled:
			serveTunnel(u, r, f.serveSPDY)
		case channelled:
			f.serveWebSocket(u, r, ports)
		default:
			f.serveSPDY(u, r)
		}
	})
}

// parsePort reads the port that a client names.
func parsePort(text string) (uint16, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("found %q, want a port from 1 to 65535", text)
	}
	return uint16(port), nil
}

// forwarder is the port-forward of one client.
type forwarder struct {
	upgrade        *upgrade
	pod            string
	idle, creation time.Duration
	slots          chan struct{} // one is taken by each connection
	run            func(port int32, stream io.ReadWriteCloser) error
}

// forward carries one connection. It is called on a goroutine for each, so that nothing above it recovers. Its error
// has the words of a kubelet's, which knows no UID here (k8s.io/cri-streaming, pkg/streaming/portforward/httpstream.go
// and pkg/streaming/server.go).
func (f *forwarder) forward(port uint16, stream io.ReadWriteCloser) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
		if err != nil {
			err = fmt.Errorf("error forwarding port %d to pod %s, uid : %w", port, f.pod, err)
		}
	}()
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	default:
		return fmt.Errorf("found %d connections open, want fewer", cap(f.slots))
	}
	return f.run(int32(port), stream)
}
