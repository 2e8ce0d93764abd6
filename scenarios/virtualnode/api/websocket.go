package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"
	utilexec "k8s.io/utils/exec"
)

// statusDeadline bounds the writing of an exit code to a client that doesn't read.
const statusDeadline = 10 * time.Second

// serveV5 serves exec and attach over WebSocket by v5.channel.k8s.io, which cri-streaming leaves to proxies. It does
// what createWebSocketStreams does (k8s.io/apiserver, pkg/util/proxy/websocket.go).
func serveV5(w http.ResponseWriter, r *http.Request, p *program, failure string) {
	kind := func(wanted bool, kind wsstream.ChannelType) wsstream.ChannelType {
		if wanted {
			return kind
		}
		return wsstream.IgnoreChannel
	}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{remotecommand.StreamProtocolV5Name: {
		Binary: true,
		Channels: []wsstream.ChannelType{
			remotecommand.StreamStdIn:  kind(p.options.Stdin, wsstream.ReadChannel),
			remotecommand.StreamStdOut: kind(p.options.Stdout, wsstream.WriteChannel),
			remotecommand.StreamStdErr: kind(p.options.Stderr, wsstream.WriteChannel),
			remotecommand.StreamErr:    wsstream.WriteChannel,
			remotecommand.StreamResize: wsstream.ReadChannel,
		},
	}})
	conn.SetIdleTimeout(p.idle)
	_, streams, err := conn.Open(w, r)
	if err != nil {
		return // Open has answered
	}
	defer func() { _ = conn.Close() }()
	first := remotecommand.StreamErr // an empty message tells the client that the connection stands
	if p.options.Stderr {
		first = remotecommand.StreamStdErr
	}
	if p.options.Stdout {
		first = remotecommand.StreamStdOut
	}
	if _, err := streams[first].Write(nil); err != nil {
		return
	}
	sizes := make(chan remotecommand.TerminalSize)
	p.pumps.Go(func() { decodeSizes(r, streams[remotecommand.StreamResize], sizes) })
	err = p.perform(streams[remotecommand.StreamStdIn], streams[remotecommand.StreamStdOut], streams[remotecommand.StreamStdErr],
		p.options.TTY, sizes)
	text, err := json.Marshal(exitStatus(err, failure))
	if err != nil {
		return
	}
	conn.SetWriteDeadline(statusDeadline)
	_, _ = streams[remotecommand.StreamErr].Write(text)
}

// decodeSizes reads the sizes of a terminal until the stream or the request ends.
func decodeSizes(r *http.Request, stream io.Reader, sizes chan<- remotecommand.TerminalSize) {
	defer close(sizes)
	for decoder := json.NewDecoder(stream); ; {
		var size remotecommand.TerminalSize
		if decoder.Decode(&size) != nil {
			return
		}
		select {
		case sizes <- size:
		case <-r.Context().Done():
			return
		}
	}
}

// exitStatus returns the message to a client about the end of a command, in the words of cri-streaming's ServeExec.
func exitStatus(err error, failure string) metav1.Status {
	if err == nil {
		return metav1.Status{Status: metav1.StatusSuccess}
	}
	exit := utilexec.ExitError(nil)
	if !errors.As(err, &exit) || !exit.Exited() {
		return apierrors.NewInternalError(fmt.Errorf("%s: %w", failure, err)).Status()
	}
	return metav1.Status{
		Status: metav1.StatusFailure,
		Reason: remotecommand.NonZeroExitCodeReason,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
			{Type: remotecommand.ExitCodeCauseType, Message: fmt.Sprint(exit.ExitStatus())},
		}},
		Message: fmt.Sprintf("command terminated with non-zero exit code: %v", exit),
	}
}
