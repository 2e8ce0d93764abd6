package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// onTerminal KEYS COMMAND… runs a command on a terminal of its own, with the
// keys in a file typed ahead, and writes what the terminal got to the file
// ttyout, up to the last byte: it reads until the kernel says that nobody has
// the terminal open any more.
func onTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: terminal KEYS COMMAND [ARG]...")
	}
	ctrl, tty, err := openTerminal()
	ts.Check(err)
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), tty, ts.Stdout(), ts.Stderr()
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "WORK", "TAPES", "TERM", "LANG", "LC_ALL", "NO_COLOR", "KUBECONFIG"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	const endOfInput = "\x04"
	_, err = io.WriteString(ctrl, ts.ReadFile(args[0])+endOfInput)
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Check(tty.Close())
	var got bytes.Buffer
	_, _ = io.Copy(&got, ctrl) // ends with EIO, behind the last byte
	err = cmd.Wait()
	ts.Check(ctrl.Close())
	ts.Check(os.WriteFile(ts.MkAbs("ttyout"), got.Bytes(), 0o644))
	if (err != nil) != neg {
		ts.Fatalf("%v, want it to fail: %v", err, neg)
	}
}

// openTerminal returns both ends of a new pseudo terminal; see pts(4).
func openTerminal() (ctrl, tty *os.File, err error) {
	if ctrl, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetPointerInt(int(ctrl.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(ctrl.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return ctrl, tty, err
}
