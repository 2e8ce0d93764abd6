package api

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream/wsstream"
)

// maxPorts is the number of ports that fit into one WebSocket: each has two channels, a channel's number is one byte,
// and 255 is reserved (k8s.io/apimachinery, pkg/util/httpstream/wsstream/conn.go).
const maxPorts = 127

// forwardedPorts reads the ports that a client names in its request, as WebSocket has no other place for them.
func forwardedPorts(q url.Values) ([]uint16, error) {
	var ports []uint16
	for _, list := range q[corev1.PortHeader] {
		for text := range strings.SplitSeq(list, ",") {
			port, err := parsePort(text)
			if err != nil {
				return nil, badRequest(fmt.Sprintf("query parameter %s: %v", corev1.PortHeader, err))
			}
			if len(ports) == maxPorts {
				return nil, badRequest(fmt.Sprintf("query parameter %s: found more than %d ports, want fewer", corev1.PortHeader, maxPorts))
			}
			ports = append(ports, port)
		}
	}
	if len(ports) == 0 {
		return nil, badRequest(fmt.Sprintf("query parameter %s: found none, want one or more ports", corev1.PortHeader))
	}
	return ports, nil
}

// serveWebSocket serves a port-forward over WebSocket: one connection to each port, with a channel for data and one for
// an error, which both begin with the port (k8s.io/cri-streaming, pkg/streaming/portforward/websocket.go). It returns
// when all connections have ended.
func (f *forwarder) serveWebSocket(w http.ResponseWriter, r *http.Request, ports []uint16) {
	var channels []wsstream.ChannelType
	for range ports {
		channels = append(channels, wsstream.ReadWriteChannel, wsstream.WriteChannel)
	}
	conn := wsstream.NewConn(webSocketProtocols(channels))
	conn.SetIdleTimeout(f.idle)
	_, opened, err := conn.Open(w, r)
	if err != nil {
		return // Open has answered
	}
	defer f.upgrade.within(func() { _ = conn.Close() })
	for i, channel := range opened {
		if _, err := channel.Write(binary.LittleEndian.AppendUint16(nil, ports[i/2])); err != nil {
			return
		}
	}
	// The others of a connection read nothing while the data of one isn't taken: the end of the client ends them all.
	stop := context.AfterFunc(f.upgrade.ctx, func() { _ = conn.Close() })
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	for i, port := range ports {
		data, errs := opened[2*i], opened[2*i+1]
		running.Go(func() {
			if err := f.forward(port, data); err != nil {
				_, _ = io.WriteString(errs, err.Error())
			}
			_ = data.Close()
			_ = errs.Close()
		})
	}
}
