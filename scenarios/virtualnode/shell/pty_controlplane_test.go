//go:build controlplane && linux

package shell_test

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

// dialogue is a program on a pseudo terminal of its own, see pts(4).
type dialogue struct {
	t    *testing.T
	cmd  *exec.Cmd
	ctrl *os.File
	got  bytes.Buffer
	seen int
}

func onTerminal(t *testing.T, cmd *exec.Cmd, rows, columns uint16) *dialogue {
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
	d := &dialogue{t: t, cmd: cmd, ctrl: ctrl}
	d.resize(rows, columns)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	return d
}

func (d *dialogue) resize(rows, columns uint16) {
	d.t.Helper()
	if err := unix.IoctlSetWinsize(int(d.ctrl.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		d.t.Fatal(err)
	}
}

// press types keys.
func (d *dialogue) press(keys string) {
	d.t.Helper()
	if _, err := io.WriteString(d.ctrl, keys); err != nil {
		d.t.Fatal(err)
	}
}

// see waits until the terminal shows a text behind what was seen before; the program's end, which its time limit sees
// to, is the end of waiting.
func (d *dialogue) see(text string) {
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

// end waits for the program and returns its exit code.
func (d *dialogue) end() int {
	d.t.Helper()
	_, _ = io.Copy(&d.got, d.ctrl) // ends with EIO, behind the last byte
	_ = d.cmd.Wait()
	_ = d.ctrl.Close()
	return d.cmd.ProcessState.ExitCode()
}
