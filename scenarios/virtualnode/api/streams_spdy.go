package api

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/klog/v2"
)

// openSPDY waits for the streams that a client opens over SPDY, each with its kind in a header
// (k8s.io/cri-streaming, pkg/streaming/remotecommand/httpstream.go). It returns nil if the client was answered with an
// error or has not opened its streams in time. A stream of an unknown kind, or the second of a kind, is refused, where
// a kubelet takes it and never reads it.
func (p *program) openSPDY(w http.ResponseWriter, r *http.Request) *clientStreams {
	protocol, err := httpstream.Handshake(r, w, remotecommand.SupportedStreamingProtocols)
	if err != nil {
		return nil // Handshake has answered
	}
	known := []string{corev1.StreamTypeError, corev1.StreamTypeStdin, corev1.StreamTypeStdout, corev1.StreamTypeStderr}
	resizes := protocol == remotecommand.StreamProtocolV3Name || protocol == remotecommand.StreamProtocolV4Name
	if resizes {
		known = append(known, corev1.StreamTypeResize)
	}
	seen := map[string]bool{}
	conn := newSPDYConn(p.upgrade.ctx, len(known), func(stream httpstream.Stream) error {
		kind := stream.Headers().Get(corev1.StreamType)
		switch {
		case !slices.Contains(known, kind):
			return fmt.Errorf("header %s: found %q, want one of %q", corev1.StreamType, kind, known)
		case seen[kind]:
			return fmt.Errorf("header %s: found a second %s, want one", corev1.StreamType, kind)
		}
		seen[kind] = true
		return nil
	})
	if !conn.upgrade(w, r, p.idle) {
		return nil
	}
	opened, err := p.awaitStreams(conn, resizes)
	if err != nil {
		klog.V(2).InfoS("Kubelet API: exec or attach ended before it began", "err", err)
		p.upgrade.within(conn.close)
		return nil
	}
	conn.stop()
	p.pumps.Go(func() { // after a GOAWAY frame, spdystream neither reads nor writes
		select {
		case <-conn.CloseChan():
			p.upgrade.cancel()
		case <-p.upgrade.ctx.Done():
		}
	})
	s := &clientStreams{
		stdin: opened[corev1.StreamTypeStdin], resize: opened[corev1.StreamTypeResize],
		stdout: opened[corev1.StreamTypeStdout], stderr: opened[corev1.StreamTypeStderr],
		status:     opened[corev1.StreamTypeError],
		structured: protocol == remotecommand.StreamProtocolV4Name,
		close:      conn.close,
	}
	if protocol == remotecommand.StreamProtocolV1Name {
		// In version 1 a kubelet ends these two at once, so that the client never reads an error (v1ProtocolHandler).
		_ = opened[corev1.StreamTypeError].Reset()
		s.status = io.Discard
		if stdin := opened[corev1.StreamTypeStdin]; stdin != nil {
			_ = stdin.Close()
		}
	}
	return s
}

// awaitStreams returns the client's streams by their kinds, when all that its options name are there.
func (p *program) awaitStreams(conn *spdyConn, resizes bool) (map[string]httpstream.Stream, error) {
	expired := time.NewTimer(p.creation)
	defer expired.Stop()
	opened := map[string]httpstream.Stream{}
	lacks := func(wanted bool, kind string) bool { return wanted && opened[kind] == nil }
	for lacks(true, corev1.StreamTypeError) || lacks(p.options.stdin, corev1.StreamTypeStdin) ||
		lacks(p.options.stdout, corev1.StreamTypeStdout) || lacks(p.options.stderr, corev1.StreamTypeStderr) ||
		lacks(p.options.tty && resizes, corev1.StreamTypeResize) {
		stream, err := conn.next(expired.C)
		if err != nil {
			return nil, err
		}
		opened[stream.Headers().Get(corev1.StreamType)] = stream
	}
	return opened, nil
}
