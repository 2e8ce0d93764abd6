package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nodesim/nodesim/internal/atomicfile"
)

// A new file has the permissions that were asked for, and an updated one keeps its own.
func TestPermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	want := func(text string, perm os.FileMode) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("read %q, %v, want %q", got, err, text)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != perm {
			t.Errorf("permissions %v, %v, want %v", info.Mode().Perm(), err, perm)
		}
	}
	for _, step := range []struct {
		write func() error
		text  string
		perm  os.FileMode
	}{
		{func() error { return atomicfile.Update(path, "new") }, "new", 0o644},
		{func() error { return atomicfile.Write(path, []byte("mine"), 0o600) }, "mine", 0o600},
		{func() error { return atomicfile.Update(path, "still mine") }, "still mine", 0o600},
	} {
		if err := step.write(); err != nil {
			t.Fatal(err)
		}
		want(step.text, step.perm)
	}
}

// What can't be written leaves nothing behind, and what was there as it was.
func TestFailuresLeaveNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "taken")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Update(path, "text"); err == nil {
		t.Error("a folder was replaced")
	}
	if err := atomicfile.Update(filepath.Join(folder, "missing", "f"), "text"); err == nil {
		t.Error("a file was made in a folder that isn't there")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 || !left[0].IsDir() {
		t.Errorf("left %v, %v, want the folder alone", left, err)
	}
}
