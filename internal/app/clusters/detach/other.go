//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package detach

import (
	"context"
	"errors"
	"io"
)

var errNoUnix = errors.New("run in the background: found no Unix: want Linux or macOS")

// Start refuses: it needs a Unix.
func Start(context.Context, []string, io.Writer, io.Writer) error { return errNoUnix }

// Hide refuses: it needs a Unix.
func Hide() error { return errNoUnix }
