package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// survivePipe makes a write to a pipe that nobody reads any more an error, until
// restore is called. Otherwise it ends the program at once (package os/signal,
// "SIGPIPE"), and what has to be tidied up stays behind.
func survivePipe() (restore func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// quietly says nothing of a pipe that nobody reads any more, such as behind
// `| head`: only the exit status tells. Errors of sockets are no *fs.PathError.
func quietly(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && path.Op == "write" && errors.Is(path, syscall.EPIPE) {
		return &exitError{exitFailed, nil}
	}
	return err
}

// piped is a writer that ends a context at its first write into a pipe that nobody
// reads any more; the cause is the write's error.
type piped struct {
	io.Writer
	end context.CancelCauseFunc
}

func (p piped) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.end(err)
	}
	return n, err
}
