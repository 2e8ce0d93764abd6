package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// The protocols are served here and not by a library, since Kubernetes has moved its own: they are in k8s.io/kubelet,
// pkg/cri/streaming up to 1.35 and in k8s.io/cri-streaming from 1.36 on, so that no import works with both. Comments
// cite the latter.

// base64V4 is the WebSocket protocol whose messages are base64 text; apimachinery has no name for it
// (k8s.io/cri-streaming, pkg/streaming/remotecommand/websocket.go).
const base64V4 = "v4.base64.channel.k8s.io"

// streamOptions say which streams a client of exec or attach wants.
type streamOptions struct{ stdin, stdout, stderr, tty bool }

// parseStreamOptions reads which streams a client wants.
func parseStreamOptions(q url.Values) (streamOptions, error) {
	is := func(name string) bool { return q.Get(name) == "1" }
	o := streamOptions{
		stdin: is(corev1.ExecStdinParam), stdout: is(corev1.ExecStdoutParam),
		stderr: is(corev1.ExecStderrParam), tty: is(corev1.ExecTTYParam),
	}
	switch {
	case o.tty && o.stderr:
		return o, badRequest("query parameters tty and error: found both, want at most one: a terminal has one stream for both outputs")
	case !o.stdin && !o.stdout && !o.stderr:
		return o, badRequest("you must specify at least 1 of stdin, stdout, stderr")
	}
	return o, nil
}

// clientStreams are the streams of one exec or attach, by whatever protocol the client speaks. One that the client
// doesn't want may be nil.
type clientStreams struct {
	stdin, resize  io.Reader
	stdout, stderr io.WriteCloser
	status         io.Writer
	structured     bool // the status is JSON
	close          func()
}

// writeStatus tells the client how its command ended. Protocols before version 4 have only the text of an error
// (k8s.io/cri-streaming, pkg/streaming/remotecommand/httpstream.go, v1WriteStatusFunc and v4WriteStatusFunc).
func (s *clientStreams) writeStatus(status metav1.Status) {
	text := []byte(status.Message)
	switch {
	case s.structured:
		var err error
		if text, err = json.Marshal(status); err != nil {
			return
		}
	case status.Status == metav1.StatusSuccess:
		return
	}
	_, _ = s.status.Write(text)
}

// exitStatus returns the status of a command that ended with err. Only exec has exit codes
// (k8s.io/cri-streaming, pkg/streaming/remotecommand/exec.go and attach.go).
func exitStatus(err error, failure string, exitCodes bool) metav1.Status {
	if err == nil {
		return metav1.Status{Status: metav1.StatusSuccess}
	}
	exit := utilexec.ExitError(nil)
	if !exitCodes || !errors.As(err, &exit) || !exit.Exited() {
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
