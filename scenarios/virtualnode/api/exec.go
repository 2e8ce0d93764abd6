package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"
	utilexec "k8s.io/utils/exec"
)

// A ContainerExecHandlerFunc runs a command in a container and returns when it has ended. An error that is, or wraps,
// an ExitError (k8s.io/utils/exec; CodeExitError of k8s.io/client-go/util/exec is one) is the command's exit code,
// with which kubectl exits; any other is told as an error of the node.
type ContainerExecHandlerFunc func(ctx context.Context, namespace, podName, containerName string, cmd []string, attach AttachIO) error

// A ContainerAttachHandlerFunc joins a client to what runs in a container already, and returns when one of them ends.
type ContainerAttachHandlerFunc func(ctx context.Context, namespace, podName, containerName string, attach AttachIO) error

func execHandler(p PodHandlerConfig) http.Handler {
	if p.RunInContainer == nil {
		return notImplemented("exec")
	}
	return streamHandler{p, func(ctx context.Context, r *http.Request, attach AttachIO) error {
		return p.RunInContainer(ctx, r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"),
			r.URL.Query()["command"], attach)
	}, func(q url.Values) error {
		if len(q["command"]) == 0 {
			return badRequest("query parameter command: found none, want one or more")
		}
		return nil
	}, serveExec}
}

func attachHandler(p PodHandlerConfig) http.Handler {
	if p.AttachToContainer == nil {
		return notImplemented("attach")
	}
	return streamHandler{p, func(ctx context.Context, r *http.Request, attach AttachIO) error {
		return p.AttachToContainer(ctx, r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"), attach)
	}, func(url.Values) error { return nil }, serveAttach}
}

// streamHandler answers exec and attach, which differ in what they run and in the words of an error.
type streamHandler struct {
	config PodHandlerConfig
	run    func(ctx context.Context, r *http.Request, attach AttachIO) error
	check  func(url.Values) error
	serve  func(w http.ResponseWriter, r *http.Request, p *program)
}

func (h streamHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	options, err := parseStreamOptions(query)
	if err == nil {
		err = h.check(query)
	}
	if refused(w, r, h.config.CheckContainer, err) {
		return
	}
	u := newUpgrade(w, r)
	var pumps sync.WaitGroup
	defer pumps.Wait() // after the end of the connection, which ends them
	defer u.close()
	p := &program{
		ctx: u.ctx, options: options, pumps: &pumps, idle: h.config.StreamIdleTimeout, creation: h.config.StreamCreationTimeout,
		run: func(ctx context.Context, attach AttachIO) error { return h.run(ctx, r, attach) },
	}
	h.serve(u, r.WithContext(u.ctx), p)
}

// parseStreamOptions reads which streams a client wants.
func parseStreamOptions(q url.Values) (remotecommand.Options, error) {
	is := func(name string) bool { return q.Get(name) == "1" }
	o := remotecommand.Options{
		Stdin: is(remotecommand.ExecStdinParam), Stdout: is(remotecommand.ExecStdoutParam),
		Stderr: is(remotecommand.ExecStderrParam), TTY: is(remotecommand.ExecTTYParam),
	}
	switch {
	case o.TTY && o.Stderr:
		return o, badRequest("query parameters tty and error: found both, want at most one: a terminal has one stream for both outputs")
	case !o.Stdin && !o.Stdout && !o.Stderr:
		return o, badRequest("you must specify at least 1 of stdin, stdout, stderr")
	}
	return o, nil
}

// program is one exec or attach as cri-streaming wants it, whatever protocol the client speaks.
type program struct {
	ctx            context.Context
	options        remotecommand.Options
	pumps          *sync.WaitGroup
	idle, creation time.Duration
	run            func(context.Context, AttachIO) error
}

var (
	_ remotecommand.Executor = (*program)(nil)
	_ remotecommand.Attacher = (*program)(nil)
)

// ExecInContainer is called by cri-streaming when the client's streams are there.
func (p *program) ExecInContainer(_ context.Context, _, _, _ string, _ []string, in io.Reader, out, errs io.WriteCloser,
	tty bool, sizes <-chan remotecommand.TerminalSize, _ time.Duration) error {
	return p.perform(in, out, errs, tty, sizes)
}

// AttachContainer is called by cri-streaming when the client's streams are there.
func (p *program) AttachContainer(_ context.Context, _, _, _ string, in io.Reader, out, errs io.WriteCloser, tty bool,
	sizes <-chan remotecommand.TerminalSize) error {
	return p.perform(in, out, errs, tty, sizes)
}

func (p *program) perform(in io.Reader, out, errs io.WriteCloser, tty bool, sizes <-chan remotecommand.TerminalSize) error {
	a := &attachIO{stdout: out, stderr: errs, tty: tty}
	if !p.options.Stdout || out == nil {
		a.stdout = nowhere{}
	}
	if !p.options.Stderr || errs == nil {
		a.stderr = nowhere{}
	}
	if tty {
		a.stderr = a.stdout
	}
	if !p.options.Stdin {
		in = nil
	}
	if sizes == nil { // of an old protocol
		none := make(chan remotecommand.TerminalSize)
		close(none)
		sizes = none
	}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	stop := a.pump(ctx, p.pumps, in, sizes)
	defer stop()
	err := p.run(ctx, a)
	if exit := utilexec.ExitError(nil); errors.As(err, &exit) {
		return exit // cri-streaming looks at the error itself, not at what it wraps
	}
	return err
}

func serveExec(w http.ResponseWriter, r *http.Request, p *program) {
	if wsstream.IsWebSocketRequestWithStreamCloseProtocol(r) {
		serveV5(w, r, p, "error executing command in container")
		return
	}
	remotecommand.ServeExec(w, r, p, r.PathValue("pod"), "", r.PathValue("container"), nil, &p.options, p.idle, p.creation,
		remotecommand.SupportedStreamingProtocols)
}

func serveAttach(w http.ResponseWriter, r *http.Request, p *program) {
	if wsstream.IsWebSocketRequestWithStreamCloseProtocol(r) {
		serveV5(w, r, p, "error attaching to container")
		return
	}
	remotecommand.ServeAttach(w, r, p, r.PathValue("pod"), "", r.PathValue("container"), &p.options, p.idle, p.creation,
		remotecommand.SupportedStreamingProtocols)
}
