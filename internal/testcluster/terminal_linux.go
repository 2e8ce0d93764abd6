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

// A Dialogue is a program on a pseudo terminal of its own, see pts(4), and who sits
// there. It is for one goroutine.
type Dialogue struct {
	t    testing.TB
	cmd  *exec.Cmd
	ctrl *os.File
	got  bytes.Buffer
	seen int
}

// OnTerminal starts a program on a terminal. Its own time limit, as that of
// exec.CommandContext, bounds all waiting.
func OnTerminal(t testing.TB, cmd *exec.Cmd, rows, columns uint16) *Dialogue {
	t.Helper()
	ctrl, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(ctrl.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ctrl.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := &Dialogue{t: t, cmd: cmd, ctrl: ctrl}
	d.Resize(rows, columns)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	return d
}

// Resize changes the size of the terminal.
func (d *Dialogue) Resize(rows, columns uint16) {
	d.t.Helper()
	if err := unix.IoctlSetWinsize(int(d.ctrl.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
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

// See waits until the terminal shows a text behind what was seen before, or the
// program ends.
func (d *Dialogue) See(text string) {
	d.t.Helper()
	for b := make([]byte, 4096); ; {
		if i := bytes.Index(d.got.Bytes()[d.seen:], []byte(text)); i >= 0 {
			d.seen += i + len(text)
			return
		}
		n, err := d.ctrl.Read(b)
		if err != nil {
			d.t.Fatalf("the terminal doesn't show %q before its end (%v):\n%q", text, err, d.got.Bytes()[d.seen:])
		}
		d.got.Write(b[:n])
	}
}

// End waits for the program and returns its exit code.
func (d *Dialogue) End() int {
	d.t.Helper()
	_, _ = io.Copy(&d.got, d.ctrl) // ends with EIO, behind the last byte
	_ = d.cmd.Wait()
	_ = d.ctrl.Close()
	return d.cmd.ProcessState.ExitCode()
}
