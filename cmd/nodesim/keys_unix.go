//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/nodesim/nodesim/internal/show"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// readKeys turns what is typed at a terminal into keys, until restore is
// called, which gives the terminal back. Where in is no terminal there are no
// keys. Signals work on as they do: ctrl-c is one.
func readKeys(in io.Reader) (keys <-chan show.Key, restore func()) {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}
	}
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, termiosGet)
	if err != nil {
		return nil, func() {}
	}
	raw := *before
	raw.Lflag &^= unix.ICANON | unix.ECHO
	// A read comes back after a tenth of a second, with nothing if need be, so
	// that reading can be ended.
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 0, 1
	if err := unix.IoctlSetTermios(fd, termiosSet, &raw); err != nil {
		return nil, func() {}
	}
	typed := make(chan show.Key, 8)
	var done atomic.Bool
	var reading sync.WaitGroup
	reading.Go(func() { listen(fd, typed, &done) })
	return typed, func() {
		done.Store(true)
		reading.Wait()
		// Nothing can be done where a terminal that was there is gone.
		_ = unix.IoctlSetTermios(fd, termiosSet, before)
	}
}

func listen(fd int, typed chan<- show.Key, done *atomic.Bool) {
	var b [16]byte
	for !done.Load() {
		n, err := unix.Read(fd, b[:])
		if err != nil && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return
		}
		for _, c := range b[:max(n, 0)] {
			k, known := map[byte]show.Key{'q': show.KeyQuit, 'Q': show.KeyQuit, 3: show.KeyQuit, ' ': show.KeyPause}[c]
			if !known {
				continue
			}
			select {
			case typed <- k:
			default: // nobody takes them: a key is no promise
			}
		}
	}
}
