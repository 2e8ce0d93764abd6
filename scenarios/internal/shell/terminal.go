package shell

import (
	"bytes"
	"context"
	"io"
	"sync"
	"unicode/utf8"
)

// What a terminal's line discipline holds at most, as Linux's (N_TTY_BUF_SIZE in drivers/tty/n_tty.c).
const lineLimit = 4096

// terminal is the line discipline between a client's keys and a command: it echoes, lets a line be edited, and knows
// the keys that interrupt and end. It reads keys all the time, so that a command that doesn't read can be
// interrupted.
type terminal struct {
	out       io.Writer // of the client
	interrupt func()    // for Ctrl-C

	mu    sync.Mutex
	fresh sync.Cond
	line  []byte // being typed
	ready []byte // whole lines, not read yet
	ends  int    // ends of input after ready, not read yet
	gone  bool   // no more keys
}

// newTerminal reads keys from in until that ends, and then closes done.
func newTerminal(in io.Reader, out io.Writer, interrupt func()) (t *terminal, done <-chan struct{}) {
	t = &terminal{out: out, interrupt: interrupt}
	t.fresh.L = &t.mu
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		keys := make([]byte, lineLimit)
		for {
			n, err := in.Read(keys)
			for _, key := range keys[:n] {
				t.key(key)
			}
			if err != nil {
				t.mu.Lock()
				t.gone = true
				t.fresh.Broadcast()
				t.mu.Unlock()
				return
			}
		}
	}()
	return t, ended
}

// The control keys of a terminal, by default; see termios(3).
const (
	ctrlC, ctrlD, ctrlU = 0x03, 0x04, 0x15
	backspace, del      = '\b', 0x7f
)

// key takes one byte that was typed.
func (t *terminal) key(key byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	echo := []byte{key}
	switch {
	case key == '\r' || key == '\n':
		echo = []byte("\n")
		t.take(append(t.line, '\n'))
	case key == ctrlC:
		echo = []byte("^C\n")
		t.line, t.ready = nil, nil
		t.interrupt()
	case key == ctrlD && len(t.line) == 0:
		echo = nil
		t.ends++
		t.fresh.Broadcast()
	case key == ctrlD:
		echo = nil
		t.take(t.line)
	case key == ctrlU:
		echo = bytes.Repeat([]byte("\b \b"), utf8.RuneCount(t.line))
		t.line = nil
	case key == backspace || key == del:
		if len(t.line) == 0 {
			return
		}
		_, size := utf8.DecodeLastRune(t.line)
		t.line = t.line[:len(t.line)-size]
		echo = []byte("\b \b")
	case len(t.line) == lineLimit-1: // room for the end of the line alone
		echo = []byte("\a")
	case key < ' ' && key != '\t':
		echo = []byte{'^', key + '@'}
		t.line = append(t.line, key)
	default:
		t.line = append(t.line, key)
	}
	_, _ = t.out.Write(echo)
}

// take makes a line readable, if there is room for it.
func (t *terminal) take(line []byte) {
	if len(t.ready)+len(line) <= 16*lineLimit {
		t.ready = append(t.ready, line...)
	}
	t.line = nil
	t.fresh.Broadcast()
}

// read waits for input until the context ends.
func (t *terminal) read(ctx context.Context, p []byte) (int, error) {
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.fresh.Broadcast()
	})
	defer stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case len(t.ready) > 0:
			n := copy(p, t.ready)
			t.ready = t.ready[n:]
			return n, nil
		case t.ends > 0:
			t.ends--
			return 0, io.EOF
		case t.gone:
			return 0, io.EOF
		}
		t.fresh.Wait()
	}
}

// screen is a client's output that more than one goroutine writes to. On a terminal a line ends with a carriage return
// and a line feed.
type screen struct {
	out io.Writer
	tty bool
	mu  sync.Mutex
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := p
	if s.tty {
		text = bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	}
	if len(text) == 0 { // which some protocols don't send
		return 0, nil
	}
	if _, err := s.out.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}
