package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
)

// protocols are the ways to speak to exec and attach; the WebSocket executor speaks v5.
var protocols = map[string]func(*rest.Config, *url.URL) (remotecommand.Executor, error){
	"SPDY": func(c *rest.Config, u *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewSPDYExecutor(c, "POST", u)
	},
	"WebSocket": func(c *rest.Config, u *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewWebSocketExecutor(c, "GET", u.String())
	},
}

// perform sends a request for a stream and connects it, in every protocol, one subtest each.
func perform(t *testing.T, p PodHandlerConfig, path string, test func(t *testing.T, s *Server, run func(context.Context, remotecommand.StreamOptions) error)) {
	t.Helper()
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			s, config := serve(t, p, ServeOptions{})
			u, err := url.Parse(config.Host + path)
			if err != nil {
				t.Fatal(err)
			}
			test(t, s, func(ctx context.Context, o remotecommand.StreamOptions) error {
				executor, err := protocol(config, u)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
				defer cancel()
				return executor.StreamWithContext(ctx, o)
			})
		})
	}
}

// Everything that goes in comes out, stdin ends, and the exit code arrives, even if it is wrapped.
func TestExec(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<14)
	perform(t, PodHandlerConfig{RunInContainer: func(_ context.Context, namespace, pod, container string, cmd []string, a AttachIO) error {
		if a.TTY() || a.Resize() != nil {
			return errors.New("found a terminal, want none")
		}
		n, err := io.Copy(a.Stdout(), a.Stdin())
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.Stderr(), "%s/%s/%s %q: %d bytes", namespace, pod, container, cmd, n); err != nil {
			return err
		}
		return fmt.Errorf("run: %w", exec.CodeExitError{Err: errors.New("three"), Code: 3})
	}}, "/exec/shop/web-0/app?command=cat&command=-&input=1&output=1&error=1", func(t *testing.T, _ *Server, run func(context.Context, remotecommand.StreamOptions) error) {
		var out, errs bytes.Buffer
		err := run(t.Context(), remotecommand.StreamOptions{Stdin: strings.NewReader(big), Stdout: &out, Stderr: &errs})
		if exit := new(exec.CodeExitError); !errors.As(err, exit) || exit.Code != 3 {
			t.Errorf("error %v, want exit code 3", err)
		}
		if out.String() != big {
			t.Errorf("stdout has %d bytes, want the %d of stdin", out.Len(), len(big))
		}
		if got, want := errs.String(), fmt.Sprintf(`shop/web-0/app ["cat" "-"]: %d bytes`, len(big)); got != want {
			t.Errorf("stderr %q, want %q", got, want)
		}
	})
}

// An error that is no exit code is told to the client; what it didn't ask for can be written to all the same.
func TestExecFails(t *testing.T) {
	perform(t, PodHandlerConfig{RunInContainer: func(_ context.Context, _, _, _ string, _ []string, a AttachIO) error {
		if a.Stdin() != nil {
			return errors.New("found a stdin, want none")
		}
		if _, err := io.WriteString(a.Stderr(), "unheard"); err != nil {
			return err
		}
		return errors.New("the container has no shell")
	}}, "/exec/shop/web-0/app?command=ls&output=1", func(t *testing.T, _ *Server, run func(context.Context, remotecommand.StreamOptions) error) {
		err := run(t.Context(), remotecommand.StreamOptions{Stdout: io.Discard})
		if err == nil || !strings.Contains(err.Error(), "error executing command in container: the container has no shell") {
			t.Errorf("error %v", err)
		}
	})
}

type sizes chan remotecommand.TerminalSize

func (s sizes) Next() *remotecommand.TerminalSize {
	size, ok := <-s
	if !ok {
		return nil
	}
	return &size
}

// The sizes of a terminal arrive; when the client has no more, nobody spins, and the command goes on.
func TestTerminal(t *testing.T) {
	perform(t, PodHandlerConfig{AttachToContainer: func(ctx context.Context, _, _, _ string, a AttachIO) error {
		if !a.TTY() || a.Stdout() != a.Stderr() {
			return errors.New("want a terminal with one stream for both outputs")
		}
		for range 2 {
			select {
			case size := <-a.Resize():
				if _, err := fmt.Fprintf(a.Stderr(), "%dx%d\r\n", size.Width, size.Height); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		var key [1]byte
		if _, err := io.ReadFull(a.Stdin(), key[:]); err != nil {
			return err
		}
		select {
		case size := <-a.Resize():
			return fmt.Errorf("found %v, want no more sizes and an open channel", size)
		default:
			return nil
		}
	}}, "/attach/shop/web-0/app?input=1&output=1&tty=1", func(t *testing.T, _ *Server, run func(context.Context, remotecommand.StreamOptions) error) {
		queue := make(sizes, 1)
		queue <- remotecommand.TerminalSize{Width: 80, Height: 24}
		keys, typed := io.Pipe()
		screen := &screen{seen: func(text string) {
			switch {
			case strings.HasSuffix(text, "100x40\r\n"):
				close(queue)
				_, _ = typed.Write([]byte("q"))
				_ = typed.Close()
			case strings.HasSuffix(text, "80x24\r\n"):
				queue <- remotecommand.TerminalSize{Width: 100, Height: 40}
			}
		}}
		if err := run(t.Context(), remotecommand.StreamOptions{Stdin: keys, Stdout: screen, Tty: true, TerminalSizeQueue: queue}); err != nil {
			t.Error(err)
		}
		if got, want := screen.text.String(), "80x24\r\n100x40\r\n"; got != want {
			t.Errorf("the terminal shows %q, want %q", got, want)
		}
	})
}

// screen shows what was written so far to seen, each time.
type screen struct {
	text bytes.Buffer
	seen func(string)
}

func (s *screen) Write(p []byte) (int, error) {
	n, err := s.text.Write(p)
	if n > 0 {
		s.seen(s.text.String())
	}
	return n, err
}

// A command that reads nothing and writes nothing ends when its client goes.
func TestClientGoes(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error, 1)
	perform(t, PodHandlerConfig{RunInContainer: func(ctx context.Context, _, _, _ string, _ []string, a AttachIO) error {
		started <- struct{}{}
		<-ctx.Done()
		_, err := a.Stdin().Read(make([]byte, 1))
		ended <- err
		return ctx.Err()
	}}, "/exec/shop/web-0/app?command=sleep&input=1&output=1", func(t *testing.T, _ *Server, run func(context.Context, remotecommand.StreamOptions) error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			<-started
			cancel()
		}()
		r, w := io.Pipe()
		defer func() { _ = w.Close() }()
		if err := run(ctx, remotecommand.StreamOptions{Stdin: r, Stdout: io.Discard}); !errors.Is(err, context.Canceled) {
			t.Errorf("client: %v", err)
		}
		if err := <-ended; err == nil {
			t.Error("stdin has bytes, want its end")
		}
	})
}

// Close ends the commands under way and returns after them.
func TestServerCloses(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{}, 1)
	perform(t, PodHandlerConfig{RunInContainer: func(ctx context.Context, _, _, _ string, _ []string, _ AttachIO) error {
		close(started)
		<-ctx.Done()
		ended <- struct{}{}
		return exec.CodeExitError{Err: errors.New("killed"), Code: 137}
	}}, "/exec/shop/web-0/app?command=sleep&output=1", func(t *testing.T, s *Server, run func(context.Context, remotecommand.StreamOptions) error) {
		left := make(chan error, 1)
		go func() { left <- run(t.Context(), remotecommand.StreamOptions{Stdout: io.Discard}) }()
		<-started
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		select {
		case <-ended:
		default:
			t.Error("Close has returned before the command")
		}
		if exit := new(exec.CodeExitError); !errors.As(<-left, exit) || exit.Code != 137 {
			t.Errorf("client: exit %v, want 137", exit)
		}
		started = make(chan struct{})
	})
}

// A command that heeds no context is cut off from its client, and Close says so.
func TestServerCutsStreams(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	s, config := serve(t, PodHandlerConfig{RunInContainer: func(context.Context, string, string, string, []string, AttachIO) error {
		close(started)
		<-release
		return nil
	}}, ServeOptions{})
	executor, err := remotecommand.NewSPDYExecutor(config, "POST", &url.URL{
		Scheme: "https", Host: s.Address(), Path: "/exec/shop/web-0/app", RawQuery: "command=sleep&output=1",
	})
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	go func() {
		defer close(left) // an error stream that ends without a word is success to client-go
		_ = executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: io.Discard})
	}()
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ctx); err == nil || !strings.Contains(err.Error(), "obey their contexts") {
		t.Errorf("Close: %v, want it to say that a request goes on", err)
	}
	<-left
	close(release)
}

// What can be refused before the stream is refused over HTTP; client-go's WebSocket executor doesn't repeat why.
func TestCheckedBefore(t *testing.T) {
	perform(t, PodHandlerConfig{
		RunInContainer: func(context.Context, string, string, string, []string, AttachIO) error { return nil },
		CheckContainer: func(_ context.Context, namespace, pod, container string) error {
			return fmt.Errorf("pod %s/%s/%s: %w", namespace, pod, container, typed{notFound: true})
		},
	}, "/exec/shop/web-0/app?command=ls&output=1", func(t *testing.T, _ *Server, run func(context.Context, remotecommand.StreamOptions) error) {
		err := run(t.Context(), remotecommand.StreamOptions{Stdout: io.Discard})
		if err == nil || !strings.Contains(err.Error(), "pod shop/web-0/app: typed") && !httpstream.IsUpgradeFailure(err) {
			t.Errorf("error %v", err)
		}
	})
}
