package testcluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sleeper starts a process that would outlive the test and leaves its pid where the watchdog looks.
func sleeper(t *testing.T, folder, name string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(folder, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writePID(filepath.Join(folder, "run", name+".pid"), cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// A test process that dies says nothing: its end of the pipe closes.
func TestWatchdogCleansUpAfterTheDead(t *testing.T) {
	t.Setenv("NODESIM_KEEP", "")
	folder := filepath.Join(t.TempDir(), "it's a cluster")
	children := []*exec.Cmd{sleeper(t, folder, "one"), sleeper(t, folder, "two")}
	dog, err := startWatchdog(folder)
	if err != nil {
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
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder: found %v, want it gone", err)
	}
}

func TestWatchdogGoesHomeQuietly(t *testing.T) {
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
