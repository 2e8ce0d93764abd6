package testcluster

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// NewTerminal returns both ends of a new pseudo terminal; see pts(4).
func NewTerminal() (ctrl, tty *os.File, err error) {
	if ctrl, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	n := 0
	if err = unix.IoctlSetPointerInt(int(ctrl.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		n, err = unix.IoctlGetInt(int(ctrl.Fd()), unix.TIOCGPTN)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = ctrl.Close() // nothing was written to it
		return nil, nil, err
	}
	return ctrl, tty, nil
}

// ResizeTerminal changes the size of a terminal, by its controlling end.
func ResizeTerminal(ctrl *os.File, rows, columns uint16) error {
	return unix.IoctlSetWinsize(int(ctrl.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
}

// A Transcript reads what a terminal shows, from its controlling end. It is for one
// goroutine.
type Transcript struct {
	Ctrl io.Reader
	got  bytes.Buffer
	seen int
}

// Await waits until the terminal shows a text after what was awaited before. It
// fails where no program has the terminal open any more.
func (t *Transcript) Await(text string) error {
	for b := make([]byte, 4096); ; {
		if i := bytes.Index(t.got.Bytes()[t.seen:], []byte(text)); i >= 0 {
			t.seen += i + len(text)
			return nil
		}
		n, err := t.Ctrl.Read(b)
		if err != nil {
			return fmt.Errorf("the terminal doesn't show %q before its end (%w):\n%q", text, err, t.got.Bytes()[t.seen:])
		}
		t.got.Write(b[:n])
	}
}

// All waits until no program has the terminal open any more, and returns everything that
// it has shown.
func (t *Transcript) All() []byte {
	_, _ = io.Copy(&t.got, t.Ctrl) // ends with EIO, after the last byte
	return t.got.Bytes()
}

// A Dialogue is a program on a pseudo terminal of its own, and who sits there. It is
// for one goroutine.
type Dialogue struct {
	t     testing.TB
	cmd   *exec.Cmd
	ctrl  *os.File
	shown Transcript
}

// OnTerminal starts a program on a terminal. Its own time limit, as that of
// exec.CommandContext, bounds all waiting.
func OnTerminal(t testing.TB, cmd *exec.Cmd, rows, columns uint16) *Dialogue {
	t.Helper()
	ctrl, tty, err := NewTerminal()
	if err != nil {
		t.Fatal(err)
	}
	d := &Dialogue{t: t, cmd: cmd, ctrl: ctrl, shown: Transcript{Ctrl: ctrl}}
	d.Resize(rows, columns)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close() // the program has it
	return d
}

// Resize changes the size of the terminal.
func (d *Dialogue) Resize(rows, columns uint16) {
	d.t.Helper()
	if err := ResizeTerminal(d.ctrl, rows, columns); err != nil {
		d.t.Fatal(err)
	}
}

// Press types keys.
func (d *Dialogue) Press(keys string) {
	d.t.Helper()
	if _, err := io.WriteString(d.ctrl, keys); err != nil {
		d.t.Fatal(err)
	}
}

// See waits until the terminal shows a text after what was seen before, or the
// program ends.
func (d *Dialogue) See(text string) {
	d.t.Helper()
	if err := d.shown.Await(text); err != nil {
		d.t.Fatal(err)
	}
}

// End waits for the program and returns its exit code.
func (d *Dialogue) End() int {
	d.t.Helper()
	d.shown.All()
	_ = d.cmd.Wait() // its exit code tells
	_ = d.ctrl.Close()
	return d.cmd.ProcessState.ExitCode()
}
