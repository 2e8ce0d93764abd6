package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/exec"

	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// The exit codes of a command that was killed, that was interrupted, and that doesn't exist.
const (
	killed      = 137
	interrupted = 130
	unknown     = 127
)

// Exec is an api.ContainerExecHandlerFunc. A command that is no part of package shell has exit code 127; one whose
// container ends, or whose client goes, has 137.
func (s *Scripted) Exec(ctx context.Context, namespace, name, container string, cmd []string, attach api.AttachIO) error {
	pod, err := s.pod(ctx, namespace, name)
	if err != nil {
		return err
	}
	if err := running(pod, container); err != nil {
		return err
	}
	client := ctx
	ctx, stop := s.while(ctx, pod, container)
	defer stop()
	sh := &session{scripted: s, pod: pod, tty: attach.TTY(), resize: attach.Resize(), out: attach.Stdout(), errs: attach.Stderr()}
	end := sh.open(ctx, attach.Stdin())
	defer end()
	code := sh.inForeground(ctx, func(ctx context.Context) int { return sh.run(ctx, cmd) })
	if client.Err() != nil || ctx.Err() != nil { // stdin may have ended of it before the command knew
		code = killed
	}
	if code == 0 {
		return nil
	}
	return exec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: code}
}

// session is one exec: a command and those that it runs, one after the other, with one stdin for all.
type session struct {
	scripted  *Scripted
	pod       *corev1.Pod
	tty       bool
	out, errs io.Writer
	resize    <-chan api.TermSize
	size      api.TermSize // the newest one that was seen

	in       *bufio.Reader
	terminal *terminal
	ctx      context.Context // of the command that reads

	last  int // exit code of the command before
	depth int // of shells in shells

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the command in the foreground
}

var errInterrupted = errors.New("interrupted")

// open connects stdin. The function that it returns waits until no reader is left.
func (s *session) open(ctx context.Context, in io.Reader) (end func()) {
	if in == nil {
		in = strings.NewReader("")
	}
	source := in
	if !s.tty {
		unhook := context.AfterFunc(ctx, func() { closeReader(in) }) // for a container that ends
		end = func() { unhook() }
	} else {
		screen := &screen{out: s.out, tty: true}
		s.out, s.errs = screen, screen
		terminal, done := newTerminal(in, screen, s.interrupt)
		s.terminal, source = terminal, readFunc(func(p []byte) (int, error) { return terminal.read(s.ctx, p) })
		end = func() {
			if closeReader(in) {
				<-done
			}
		}
	}
	s.in = bufio.NewReaderSize(source, maxLine)
	return end
}

// closeReader ends a stdin that can be ended, as package api's can, and says whether it could.
func closeReader(in io.Reader) bool {
	c, ok := in.(io.Closer)
	if ok {
		_ = c.Close()
	}
	return ok
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func (s *session) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel(errInterrupted)
	}
}

// inForeground runs what Ctrl-C interrupts and returns its exit code.
func (s *session) inForeground(ctx context.Context, run func(context.Context) int) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	set := func(cancel context.CancelCauseFunc, ctx context.Context) (context.CancelCauseFunc, context.Context) {
		s.mu.Lock()
		defer s.mu.Unlock()
		before, outer := s.cancel, s.ctx
		s.cancel, s.ctx = cancel, ctx
		return before, outer
	}
	before, outer := set(cancel, ctx)
	defer set(before, outer)
	code := run(ctx)
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return code
	case errors.Is(cause, errInterrupted):
		return interrupted
	}
	return killed
}

// run runs one command by its words.
func (s *session) run(ctx context.Context, words []string) int {
	if len(words) == 0 || ctx.Err() != nil {
		return 0
	}
	do, ok := commands()[words[0]]
	if !ok {
		s.complain("sh: %s: not found", words[0])
		return unknown
	}
	return do(ctx, s, words[1:])
}

func (s *session) say(format string, args ...any) int {
	if _, err := fmt.Fprintf(s.out, format+"\n", args...); err != nil {
		return 1
	}
	return 0
}

func (s *session) complain(format string, args ...any) {
	_, _ = fmt.Fprintf(s.errs, format+"\n", args...)
}
