//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package app

import (
	"errors"

	"github.com/spf13/cobra"
)

var errNoBackground = errors.New("flag --detach: found no Unix: want Linux or macOS")

func background(*cobra.Command) error { return errNoBackground }

func hide() error { return errNoBackground }
