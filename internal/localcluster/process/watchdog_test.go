package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sleeper starts a process that would outlive the test and leaves its pid where the watchdog looks.
func sleeper(t *testing.T, folder, name string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(folder, "run", name+".pid")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", enter, file, "sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// A program that dies says nothing: its end of the pipe closes.
func TestWatchdogCleansUpAfterTheDead(t *testing.T) {
	t.Setenv("NODESIM_KEEP", "")
	folder := filepath.Join(t.TempDir(), "it's a cluster")
	children := []*exec.Cmd{sleeper(t, folder, "one"), sleeper(t, folder, "two")}
	kept, gone := filepath.Join(t.TempDir(), "kept"), filepath.Join(t.TempDir(), "gone")
	original := filepath.Join(folder, "original")
	for path, text := range map[string]string{original: "ours", gone: "ours", kept: "theirs"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dog, err := startWatchdog(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := dog.copies([]file{{kept, original}, {gone, original}}); err != nil {
		t.Fatal(err)
	}
	if err := dog.pipe.Close(); err != nil {
		t.Fatal(err)
	}
	for _, child := range children {
		if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("the process: found %v, want it killed", err)
		}
	}
	if err := dog.cmd.Wait(); err != nil {
		t.Error(err)
	}
	for _, path := range []string{folder, gone} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: found %v, want it gone", path, err)
		}
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("what another program wrote: found %v, want it there", err)
	}
}

func TestWatchdogEndsQuietly(t *testing.T) {
	folder := t.TempDir()
	child := sleeper(t, folder, "one")
	dog, err := startWatchdog(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := dog.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); err != nil {
		t.Errorf("the folder: found %v, want it there", err)
	}
	if err := child.Process.Signal(os.Interrupt); err != nil {
		t.Errorf("the process: found %v, want it alive", err)
	}
	_ = child.Wait()
}
