package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

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
	cmd, ctrl, tty := terminalCommand(ts, args[1:])
	const endOfInput = "\x04"
	_, err := io.WriteString(ctrl, ts.ReadFile(args[0])+endOfInput)
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

// terminalCommand is a command that will have a terminal of its own.
func terminalCommand(ts *testscript.TestScript, args []string) (cmd *exec.Cmd, ctrl, tty *os.File) {
	ctrl, tty, err := openTerminal()
	ts.Check(err)
	cmd = exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), tty, ts.Stdout(), ts.Stderr()
	for _, name := range []string{
		"PATH", "HOME", "TMPDIR", "WORK", "TAPES", "TERM", "LANG", "LC_ALL", "NO_COLOR",
		"KUBECONFIG", "KUBEBUILDER_ASSETS", "NODESIM_CACHE", "NODESIM_KEEP", "XDG_CACHE_HOME",
	} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return cmd, ctrl, tty
}

// conversation SCRIPT COMMAND… runs a command on a terminal of its own and talks
// to it: a line "< TEXT" of the script waits until the terminal shows the text,
// anew since the line before, a line "> KEYS" types, with Go's escapes. What the
// terminal got is in the file ttyout.
func conversation(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: conversation SCRIPT COMMAND [ARG]...")
	}
	cmd, ctrl, tty := terminalCommand(ts, args[1:])
	ts.Check(unix.IoctlSetWinsize(int(ctrl.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	ts.Check(cmd.Start())
	ts.Check(tty.Close())
	tooLate := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
	defer tooLate.Stop()
	var got bytes.Buffer
	seen := 0
	for _, line := range strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n") {
		what, text, _ := strings.Cut(line, " ")
		switch what {
		case "<":
			for b := make([]byte, 4096); ; {
				if i := strings.Index(got.String()[seen:], text); i >= 0 {
					seen += i + len(text)
					break
				}
				n, err := ctrl.Read(b)
				if err != nil {
					ts.Fatalf("the terminal doesn't show %q before its end (%v):\n%q", text, err, got.String()[seen:])
				}
				got.Write(b[:n])
			}
		case ">":
			keys, err := strconv.Unquote(`"` + text + `"`)
			ts.Check(err)
			_, err = io.WriteString(ctrl, keys)
			ts.Check(err)
		default:
			ts.Fatalf("line %q: want < or >", line)
		}
	}
	_, _ = io.Copy(&got, ctrl) // ends with EIO, behind the last byte
	ts.Check(cmd.Wait())
	ts.Check(ctrl.Close())
	ts.Check(os.WriteFile(ts.MkAbs("ttyout"), got.Bytes(), 0o644))
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
