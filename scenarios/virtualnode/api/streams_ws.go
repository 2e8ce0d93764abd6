package api

import (
	"net/http"

	"k8s.io/apimachinery/pkg/util/httpstream/wsstream"
	"k8s.io/apimachinery/pkg/util/remotecommand"
)

// openWebSocket opens the channels of a client that speaks WebSocket, or returns nil after it has answered with an
// error. Versions 2 and 3 exist over SPDY only (k8s.io/cri-streaming, pkg/streaming/remotecommand/websocket.go). A
// client that offers version 5, which can end stdin, gets that (k8s.io/apiserver, pkg/util/proxy/websocket.go).
func (p *program) openWebSocket(w http.ResponseWriter, r *http.Request) *clientStreams {
	kind := func(wanted bool, kind wsstream.ChannelType) wsstream.ChannelType {
		if wanted {
			return kind
		}
		return wsstream.IgnoreChannel
	}
	channels := []wsstream.ChannelType{
		remotecommand.StreamStdIn:  kind(p.options.stdin, wsstream.ReadChannel),
		remotecommand.StreamStdOut: kind(p.options.stdout, wsstream.WriteChannel),
		remotecommand.StreamStdErr: kind(p.options.stderr, wsstream.WriteChannel),
		remotecommand.StreamErr:    wsstream.WriteChannel,
		remotecommand.StreamResize: kind(p.options.tty, wsstream.ReadChannel), // unread, it would hold up the others
	}
	protocols := webSocketProtocols(channels)
	protocols[wsstream.ChannelWebSocketProtocol] = protocols[""]
	protocols[wsstream.Base64ChannelWebSocketProtocol] = protocols[base64V4]
	if wsstream.IsWebSocketRequestWithStreamCloseProtocol(r) {
		protocols = map[string]wsstream.ChannelProtocolConfig{remotecommand.StreamProtocolV5Name: protocols[""]}
	}
	conn := wsstream.NewConn(protocols)
	conn.SetIdleTimeout(p.idle)
	protocol, opened, err := conn.Open(w, r)
	if err != nil {
		return nil // Open has answered
	}
	s := &clientStreams{
		stdin: opened[remotecommand.StreamStdIn], resize: opened[remotecommand.StreamResize],
		stdout: opened[remotecommand.StreamStdOut], stderr: opened[remotecommand.StreamStdErr],
		status: opened[remotecommand.StreamErr],
		close:  func() { _ = conn.Close() },
	}
	switch protocol {
	case remotecommand.StreamProtocolV5Name, remotecommand.StreamProtocolV4Name, base64V4:
		s.structured = true
	}
	first := s.status // an empty message tells the client that the connection is open
	switch {
	case p.options.stdout:
		first = s.stdout
	case p.options.stderr:
		first = s.stderr
	}
	if _, err := first.Write(nil); err != nil {
		p.upgrade.within(s.close)
		return nil
	}
	return s
}

// webSocketProtocols are those that exec, attach and port-forward share; the one without a name is for a client that
// names none.
func webSocketProtocols(channels []wsstream.ChannelType) map[string]wsstream.ChannelProtocolConfig {
	binary := wsstream.ChannelProtocolConfig{Binary: true, Channels: channels}
	return map[string]wsstream.ChannelProtocolConfig{
		"":                                 binary,
		remotecommand.StreamProtocolV4Name: binary,
		base64V4:                           {Channels: channels},
	}
}
