//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/internal/show"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// keysPause is how long it takes at the most until the end of reading is noticed.
const keysPause = 100 * time.Millisecond

// A keyboard is a terminal whose keys are read one by one. Its methods may be
// called from any goroutine; nil is one without keys.
type keyboard struct {
	fd      int
	typed   chan show.Key
	reading sync.WaitGroup
	done    atomic.Bool

	mu     sync.Mutex
	ours   atomic.Bool  // keys are read: written under mu
	before unix.Termios // what the terminal was set to when it was taken
}

// newKeyboard returns that of a terminal, nil where in is none. It does nothing
// before Open.
func newKeyboard(in io.Reader) *keyboard {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &keyboard{fd: int(f.Fd()), typed: make(chan show.Key, 8)}
}

// readKeys opens the keyboard of a terminal, nil where in is none.
func readKeys(in io.Reader) *keyboard {
	k := newKeyboard(in)
	k.Open()
	return k
}

// Open begins to turn what is typed into keys, until Close is called, which gives
// the terminal back. Signals work on as they do: ctrl-c is one. In the background
// nothing is read before Resume.
func (k *keyboard) Open() {
	if k == nil {
		return
	}
	if inForeground(k.fd) {
		_ = k.Resume() // without it, what is typed are no keys
	}
	k.reading.Go(func() {
		var t typing
		for !k.done.Load() {
			if k.ours.Load() {
				listen(k.fd, &t, k.typed)
			} else {
				time.Sleep(keysPause) // what is typed is for others
			}
		}
	})
}

// Suspend gives the terminal back for a while.
func (k *keyboard) Suspend() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ours.Swap(false) {
		return nil
	}
	return unix.IoctlSetTermios(k.fd, termiosSet, &k.before)
}

// Resume takes the terminal, or takes it again: a shell that stops a program and
// lets it go on has set the terminal for itself meanwhile.
func (k *keyboard) Resume() error {
	if k == nil || k.done.Load() {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ours.Load() {
		before, err := unix.IoctlGetTermios(k.fd, termiosGet)
		if err != nil {
			return err
		}
		k.before = *before
	}
	raw := k.before
	raw.Lflag &^= unix.ICANON | unix.ECHO
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 0, 0
	if err := unix.IoctlSetTermios(k.fd, termiosSet, &raw); err != nil {
		return err
	}
	k.ours.Store(true)
	return nil
}

// Close gives the terminal back.
func (k *keyboard) Close() {
	if k == nil {
		return
	}
	k.done.Store(true)
	k.reading.Wait()
	_ = k.Suspend() // nothing can be done where a terminal that was there is gone
}

// listen takes what is typed within a tenth of a second. It asks before it reads:
// where something else has set the terminal to whole lines, a read would stay until
// there is one. Nothing to read, or an error, isn't the end: a program that goes on in
// the background may have been asked to read what its shell has read by then.
func listen(fd int, t *typing, typed chan<- show.Key) {
	var ready unix.FdSet
	ready.Set(fd)
	wait := unix.NsecToTimeval(int64(keysPause))
	if _, err := unix.Select(fd+1, &ready, nil, nil, &wait); err != nil || !ready.IsSet(fd) {
		if err == nil {
			t.pause()
		} else if !errors.Is(err, unix.EINTR) {
			time.Sleep(keysPause)
		}
		return
	}
	var b [16]byte
	n, err := unix.Read(fd, b[:])
	if err != nil || n == 0 {
		time.Sleep(keysPause) // where the terminal is gone, this is all that happens until the end
		return
	}
	for _, k := range t.take(b[:n]) {
		select {
		case typed <- k:
		default: // nobody takes them: a key is no promise
		}
	}
}
