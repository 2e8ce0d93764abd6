//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

const termiosGet, termiosSet = unix.TIOCGETA, unix.TIOCSETA
