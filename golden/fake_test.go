package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeTB records what a test would have reported. The embedded interface is
// nil: anything that Assert should not call panics.
type fakeTB struct {
	testing.TB
	name   string
	errors []string
	logs   []string
}

func (f *fakeTB) Helper()      {}
func (f *fakeTB) Name() string { return f.name }
func (f *fakeTB) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}
func (f *fakeTB) Logf(format string, args ...any) {
	f.logs = append(f.logs, fmt.Sprintf(format, args...))
}

// inFolder makes a package folder with files in it, and an environment without
// CI and without a wish to update.
func inFolder(t *testing.T, files map[string]string) *folder {
	t.Helper()
	t.Setenv("CI", "")
	t.Setenv(envUpdate, "")
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &folder{dir: dir, updating: func() bool { return isSet(os.Getenv(envUpdate)) }}
}

func (f *folder) read(t *testing.T, rel string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(rel)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// onlyError returns the one error of a fake test and checks what it mentions.
func (f *fakeTB) onlyError(t *testing.T, mentions ...string) {
	t.Helper()
	if len(f.errors) != 1 {
		t.Fatalf("got %d errors %q, want one", len(f.errors), f.errors)
	}
	for _, want := range mentions {
		if !strings.Contains(f.errors[0], want) {
			t.Errorf("the error does not mention %q:\n%s", want, f.errors[0])
		}
	}
}

func (f *fakeTB) noError(t *testing.T) {
	t.Helper()
	if len(f.errors) != 0 {
		t.Errorf("got errors %q, want none", f.errors)
	}
}
