//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

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
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 0, 0
	if err := unix.IoctlSetTermios(fd, termiosSet, &raw); err != nil {
		return nil, func() {}
	}
	typed := make(chan show.Key, 8)
	var done atomic.Bool
	var reading sync.WaitGroup
	// A shell that stops the program and lets it go on has set the terminal for
	// itself meanwhile.
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	reading.Go(func() {
		var t typing
		for !done.Load() {
			select {
			case <-continued:
				_ = unix.IoctlSetTermios(fd, termiosSet, &raw)
			default:
			}
			if !listen(fd, &t, typed) {
				return
			}
		}
	})
	return typed, func() {
		signal.Stop(continued)
		done.Store(true)
		reading.Wait()
		// Nothing can be done where a terminal that was there is gone.
		_ = unix.IoctlSetTermios(fd, termiosSet, before)
	}
}

// listen takes what is typed within a tenth of a second, and reports whether
// more may come. It asks before it reads: where something else has set the
// terminal to whole lines, a read would stay until there is one.
func listen(fd int, t *typing, typed chan<- show.Key) bool {
	var ready unix.FdSet
	ready.Set(fd)
	wait := unix.NsecToTimeval(int64(100 * time.Millisecond))
	if _, err := unix.Select(fd+1, &ready, nil, nil, &wait); err != nil {
		return errors.Is(err, unix.EINTR)
	}
	if !ready.IsSet(fd) {
		t.pause()
		return true
	}
	var b [16]byte
	n, err := unix.Read(fd, b[:])
	switch {
	case err != nil:
		return errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN)
	case n == 0: // the terminal is gone
		return false
	}
	for _, k := range t.take(b[:n]) {
		select {
		case typed <- k:
		default: // nobody takes them: a key is no promise
		}
	}
	return true
}
