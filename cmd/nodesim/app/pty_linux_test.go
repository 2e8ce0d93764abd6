package app

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/rogpeppe/go-internal/testscript"
)

// onTerminal KEYS COMMAND… runs a command on a terminal of its own, with the
// keys in a file typed ahead, and writes what the terminal got to the file
// ttyout, up to the last byte: it reads until the kernel says that no program has
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
	shown := testcluster.Transcript{Ctrl: ctrl}
	ts.Check(os.WriteFile(ts.MkAbs("ttyout"), shown.All(), 0o644))
	err = cmd.Wait()
	ts.Check(ctrl.Close())
	if (err != nil) != neg {
		ts.Fatalf("%v, want it to fail: %v", err, neg)
	}
}

// terminalCommand is a command that will have a terminal of its own.
func terminalCommand(ts *testscript.TestScript, args []string) (cmd *exec.Cmd, ctrl, tty *os.File) {
	ctrl, tty, err := testcluster.NewTerminal()
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
// again since the line before, a line "> KEYS" types, with Go's escapes. What the
// terminal got is in the file ttyout.
func conversation(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: conversation SCRIPT COMMAND [ARG]...")
	}
	cmd, ctrl, tty := terminalCommand(ts, args[1:])
	ts.Check(testcluster.ResizeTerminal(ctrl, 24, 80))
	ts.Check(cmd.Start())
	ts.Check(tty.Close())
	tooLate := time.AfterFunc(20*time.Minute, func() { _ = cmd.Process.Kill() })
	defer tooLate.Stop()
	shown := testcluster.Transcript{Ctrl: ctrl}
	for _, line := range strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n") {
		what, text, _ := strings.Cut(line, " ")
		switch what {
		case "<":
			ts.Check(shown.Await(text))
		case ">":
			keys, err := strconv.Unquote(`"` + text + `"`)
			ts.Check(err)
			_, err = io.WriteString(ctrl, keys)
			ts.Check(err)
		default:
			ts.Fatalf("line %q: want < or >", line)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs("ttyout"), shown.All(), 0o644))
	ts.Check(cmd.Wait())
	ts.Check(ctrl.Close())
}
