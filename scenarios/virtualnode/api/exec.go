package api

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream/wsstream"
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
	}, "error executing command in container", true}
}

func attachHandler(p PodHandlerConfig) http.Handler {
	if p.AttachToContainer == nil {
		return notImplemented("attach")
	}
	return streamHandler{p, func(ctx context.Context, r *http.Request, attach AttachIO) error {
		return p.AttachToContainer(ctx, r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"), attach)
	}, func(url.Values) error { return nil }, "error attaching to container", false}
}

// streamHandler answers exec and attach, which differ in what they run and in the words of an error.
type streamHandler struct {
	config    PodHandlerConfig
	run       func(ctx context.Context, r *http.Request, attach AttachIO) error
	check     func(url.Values) error
	failure   string
	exitCodes bool
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
		upgrade: u, options: options, pumps: &pumps, idle: h.config.StreamIdleTimeout, creation: h.config.StreamCreationTimeout,
		run: func(ctx context.Context, attach AttachIO) error { return h.run(ctx, r, attach) },
	}
	open := p.openSPDY
	if wsstream.IsWebSocketRequest(r) {
		open = p.openWebSocket
	}
	streams := open(u, r.WithContext(u.ctx))
	if streams == nil {
		return
	}
	defer u.within(streams.close)
	err = p.attach(streams)
	u.within(func() { streams.writeStatus(exitStatus(err, h.failure, h.exitCodes)) })
}

// program is one exec or attach, whatever protocol the client speaks.
type program struct {
	upgrade        *upgrade
	options        streamOptions
	pumps          *sync.WaitGroup
	idle, creation time.Duration
	run            func(context.Context, AttachIO) error
}

// attach runs the program with those of the client's streams that its options name.
func (p *program) attach(s *clientStreams) error {
	a := &attachIO{stdout: nowhere{}, stderr: nowhere{}, tty: p.options.tty}
	if p.options.stdout {
		a.stdout = s.stdout
	}
	if p.options.stderr {
		a.stderr = s.stderr
	}
	if p.options.tty {
		a.stderr = a.stdout
	}
	in := s.stdin
	if !p.options.stdin {
		in = nil
	}
	ctx, cancel := context.WithCancel(p.upgrade.ctx)
	defer cancel()
	stop := a.pump(ctx, p.pumps, in, s.resize)
	defer stop()
	return p.run(ctx, a)
}
