package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func group(t *testing.T) *Group {
	t.Helper()
	t.Setenv("NODESIM_KEEP", "")
	folder := filepath.Join(t.TempDir(), "it's [a] folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	g, err := NewGroup(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder: found %v, want it gone", err)
		}
	})
	return g
}

func run(t *testing.T, g *Group, name, script string) *Process {
	t.Helper()
	p, err := g.Run(name, "/bin/sh", []string{"-c", script})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// until waits for a file, which a program writes when it is where the test wants it.
func until(t *testing.T, g *Group, file string, p *Process) {
	t.Helper()
	for {
		if _, err := os.Stat(g.Path(file)); err == nil {
			return
		}
		if err := errors.Join(p.Alive(), t.Context().Err()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProgramsEndWithTheirGroup(t *testing.T) {
	g := group(t)
	obeys := run(t, g, "obeys", `trap 'echo obeyed >ended; exit 0' TERM; >ready; while :; do sleep 0.01; done`)
	until(t, g, "ready", obeys)
	if pid, err := g.PID("obeys"); err != nil || pid != obeys.PID() {
		t.Errorf("the pid file: found %d, %v, want %d", pid, err, obeys.PID())
	}
	if err := obeys.Alive(); err != nil {
		t.Error(err)
	}
	if err := g.Stop(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(g.Path("ended")); err != nil || string(text) != "obeyed\n" {
		t.Errorf("found %q, %v, want that it was asked to end", text, err)
	}
	if err := syscall.Kill(obeys.PID(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process: found %v, want it gone", err)
	}
	if _, err := g.PID("obeys"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the pid file: found %v, want it gone", err)
	}
	if left := g.Processes(); len(left) > 0 {
		t.Errorf("found %v, want none", left)
	}
}

// An error shows what this run of a program has said, not the one before.
func TestAProgramThatEndsByItself(t *testing.T) {
	g := group(t)
	first := run(t, g, "one", "echo of the first")
	<-first.Done()
	g.Forget(first)
	second := run(t, g, "one", "exit 7")
	<-second.Done()
	if err := second.Alive(); err == nil || err.Error() != "one ended by itself, with exit status 7; its log ends with (it is empty)" {
		t.Errorf("found %v", err)
	}
	if err := first.Alive(); err == nil || !strings.HasSuffix(err.Error(), "with status 0; its log ends with of the first") {
		t.Errorf("found %v", err)
	}
	if logs := g.Logs(5); logs != "== one.log (0 lines before these)\nof the first\n" {
		t.Errorf("found the logs %q", logs)
	}
}

// What was copied out goes away with the group, unless it is another program's by then.
func TestCopies(t *testing.T) {
	g := group(t)
	if err := os.WriteFile(g.Path("original"), []byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	gone, kept := filepath.Join(t.TempDir(), "gone"), filepath.Join(t.TempDir(), "kept")
	for _, path := range []string{gone, kept} {
		if err := g.CopyOut(g.Path("original"), path); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.CopyOut(g.Path("original"), kept); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: found %v, want that it exists", err)
	}
	if err := os.WriteFile(kept, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy: found %v, want it gone", err)
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != "theirs" {
		t.Errorf("what another program wrote: found %q, %v", text, err)
	}
}

// What is left of the dead is known by the folder in its arguments; another process that has the number by now lives on.
func TestSweep(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "no[t] a pattern")
	left := known(t, folder, "left", folder)
	other := known(t, folder, "other", "elsewhere")
	original, copied := filepath.Join(folder, "original"), filepath.Join(t.TempDir(), "copied")
	for path, text := range map[string]string{
		original: "ours", copied: "ours", filepath.Join(folder, "run", "copies"): copied + "\n" + original + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Sweep(folder); err != nil {
		t.Fatal(err)
	}
	if err := left.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("what is left: found %v, want it killed", err)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("another program's process: found %v, want it alive", err)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	for _, path := range []string{folder, copied} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: found %v, want it gone", path, err)
		}
	}
}

// known starts a process with something in its arguments, and a pid file in a folder.
func known(t *testing.T, folder, name, argument string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(folder, "run", name+".pid")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", "read -r line", argument)
	if _, err := cmd.StdinPipe(); err != nil { // it reads until it is killed
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, "%d\n", cmd.Process.Pid), 0o644); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestProgramThatEndsByItselfIsStartedAgain(t *testing.T) {
	g := group(t)
	g.ranLong = 0
	script := `echo >>starts; [ "$(wc -l <starts)" -lt 3 ] && exit 1; touch again; exec sleep 1000`
	if err := g.RunAgain("scheduler", "/bin/sh", []string{"-c", script}); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(g.Path("again")); err == nil {
			break
		}
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	if running := g.Processes(); len(running) != 1 || running[0].Alive() != nil {
		t.Errorf("found %d programs: want one that runs", len(running))
	}
	if err := g.Stop(); err != nil {
		t.Fatal(err)
	}
	if left := g.Processes(); len(left) > 0 {
		t.Errorf("%d programs run after the stop: want none", len(left))
	}
}

func TestProgramThatEndsAtOnceStaysEnded(t *testing.T) {
	g := group(t)
	if err := g.RunAgain("scheduler", "/bin/sh", []string{"-c", "exit 1"}); err != nil {
		t.Fatal(err)
	}
	p := g.Processes()[0]
	<-p.Done()
	if p.Alive() == nil || g.Processes()[0] != p {
		t.Error("it was started again, or counts as alive: want neither")
	}
}
