package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/spf13/cobra"
)

// ignoreSIGPIPE makes a write to a pipe that is no longer read an error, until
// restore is called. Otherwise it ends the program at once (package os/signal,
// "SIGPIPE"), and what has to be tidied up is left over.
func ignoreSIGPIPE() (restore func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// suppressBrokenPipe says nothing of a pipe that is no longer read, such as after
// `| head`: only the exit status tells. Errors of sockets are no *fs.PathError.
func suppressBrokenPipe(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && path.Op == "write" && errors.Is(path, syscall.EPIPE) {
		return &exitError{exitFailed, nil}
	}
	return err
}

// cancelOnBrokenPipe has a command end its work cleanly when what it prints can't be written, since no program reads it any
// more or a disk is full, until restore is called: its context ends, and unread tells why. A terminal stays what it is.
func cancelOnBrokenPipe(cmd *cobra.Command) (restore func()) {
	survived := ignoreSIGPIPE()
	ctx, end := context.WithCancelCause(cmd.Context())
	cmd.SetContext(ctx)
	if out := cmd.OutOrStdout(); !terminal.Is(out) {
		cmd.SetOut(piped{out, end})
	}
	if out := cmd.ErrOrStderr(); !terminal.Is(out) {
		cmd.SetErr(piped{out, end})
	}
	return func() {
		end(nil)
		survived()
	}
}

// unread is the error of the write that failed, by which cancelOnBrokenPipe has ended a context; nil where something
// else has, or nothing.
func unread(ctx context.Context) error {
	var write *writeError
	if errors.As(context.Cause(ctx), &write) {
		return write.error
	}
	return nil
}

type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// piped is a writer that ends a context at its first write that fails; the cause is the write's error.
type piped struct {
	io.Writer
	end context.CancelCauseFunc
}

func (p piped) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if err != nil {
		p.end(&writeError{err})
	}
	return n, err
}
