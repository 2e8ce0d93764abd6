//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/ui/player"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// keysPause is the time it takes at the most until a read that waits for keys notices
// that they are others', or that there will be none any more. It is also what tells an
// ESC from the beginning of a sequence.
const keysPause = 100 * time.Millisecond

// A Keyboard is a terminal whose keys are read one by one. Its methods may be
// called from any goroutine; nil is one without keys.
type Keyboard struct {
	fd      int
	typed   chan player.Key
	pieces  chan []byte // the same as it was typed
	reading sync.WaitGroup
	closed  chan struct{} // no keys will be read any more: closed under mu

	mu      sync.Mutex
	ours    bool // keys are read
	changed sync.Cond
	before  unix.Termios // what the terminal was set to when it was taken
}

// NewKeyboard returns the keyboard of a terminal, nil where in is none. It does nothing
// before Open.
func NewKeyboard(in io.Reader) *Keyboard {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	k := &Keyboard{fd: int(f.Fd()), typed: make(chan player.Key, 8), pieces: make(chan []byte, 64), closed: make(chan struct{})}
	k.changed.L = &k.mu
	return k
}

// ReadKeys opens the keyboard of a terminal, nil where in is none.
func ReadKeys(in io.Reader) *Keyboard {
	k := NewKeyboard(in)
	k.Open()
	return k
}

// Open begins to turn what is typed into keys, until Close is called, which gives
// the terminal back. Signals work on as they do: ctrl-c is one. In the background
// nothing is read before Resume.
func (k *Keyboard) Open() {
	if k == nil {
		return
	}
	if inForeground(k.fd) {
		_ = k.Resume() // without it, what is typed are no keys
	}
	k.reading.Go(func() {
		var t typing
		for k.awaitTurn() {
			if !k.listen(&t) {
				k.idle()
			}
		}
	})
}

// Suspend gives the terminal back for a while.
func (k *Keyboard) Suspend() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ours {
		return nil
	}
	k.ours = false
	return unix.IoctlSetTermios(k.fd, termiosSet, &k.before)
}

// Resume takes the terminal, or takes it again: a shell that stops a program and
// lets it go on has set the terminal for itself meanwhile.
func (k *Keyboard) Resume() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over() {
		return nil
	}
	if !k.ours {
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
	k.ours = true
	k.changed.Broadcast()
	return nil
}

// Close gives the terminal back. It may be called twice.
func (k *Keyboard) Close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	if !k.over() {
		close(k.closed)
		k.changed.Broadcast()
	}
	k.mu.Unlock()
	k.reading.Wait()
	_ = k.Suspend() // nothing can be done where a terminal that was there is gone
}

// over reports whether Close was called.
func (k *Keyboard) over() bool {
	select {
	case <-k.closed:
		return true
	default:
		return false
	}
}

// awaitTurn waits until what is typed is for this program, and returns false when
// nothing will be any more.
func (k *Keyboard) awaitTurn() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for !k.ours && !k.over() {
		k.changed.Wait()
	}
	return !k.over()
}

// idle lets a terminal be that gives nothing. Where it is gone, this is all that
// happens until the end.
func (k *Keyboard) idle() {
	pause := time.NewTimer(keysPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-k.closed:
	}
}

// listen takes what is typed within a tenth of a second, and returns false where the
// terminal gives nothing although it was asked. It asks before it reads: where
// something else has set the terminal to whole lines, a read would stay until there is
// one. Nothing to read, or an error, isn't the end: a program that continues in the
// background may have been asked to read what its shell has read by then.
func (k *Keyboard) listen(t *typing) bool {
	var ready unix.FdSet
	ready.Set(k.fd)
	wait := unix.NsecToTimeval(int64(keysPause))
	switch _, err := unix.Select(k.fd+1, &ready, nil, nil, &wait); {
	case err != nil:
		return errors.Is(err, unix.EINTR)
	case !ready.IsSet(k.fd):
		t.pause()
		return true
	}
	var b [16]byte
	n, err := unix.Read(k.fd, b[:])
	if err != nil || n == 0 {
		return false
	}
	select {
	case k.pieces <- b[:n:n]:
	default: // no reader takes them
	}
	for _, key := range t.take(b[:n]) {
		select {
		case k.typed <- key:
		default: // no reader takes them: a key is no promise
		}
	}
	return true
}
