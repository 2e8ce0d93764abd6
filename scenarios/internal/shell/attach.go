package shell

import (
	"context"
	"errors"
	"io"

	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// Attach is an api.ContainerAttachHandlerFunc: it shows new lines of the log and echoes stdin, until the container ends,
// the client goes, or a terminal sends Ctrl-C.
func (s *Scripted) Attach(ctx context.Context, namespace, name, container string, attach api.AttachIO) error {
	if err := s.Check(ctx, namespace, name, container); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	log, err := s.Logs(ctx, namespace, name, container, api.ContainerLogOpts{Follow: true, NoTail: true})
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	out := &screen{out: attach.Stdout(), tty: attach.TTY()}
	if in := attach.Stdin(); in != nil {
		var done <-chan struct{}
		if attach.TTY() {
			_, done = newTerminal(in, out, func() { cancel(errInterrupted) })
		} else {
			echoed := make(chan struct{})
			done = echoed
			go func() {
				defer close(echoed)
				_, _ = io.Copy(out, in)
			}()
		}
		defer func() {
			if closeReader(in) {
				<-done
			}
		}()
	}
	if _, err = io.Copy(out, log); errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
