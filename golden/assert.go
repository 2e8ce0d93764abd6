package golden

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Assert compares got, after the rules, with testdata/<name>.golden, or writes
// the file where [Updating] says so. The name may hold slashes; it may not
// leave testdata, nor hold what some file system can't store. A difference is
// reported with t.Errorf, so the test continues and shows its other differences
// as well. So is a text with nothing to read in it: see [AssertEmpty].
//
// The folder is that of the package under test, whatever folder the test has
// changed to since.
func Assert[T ~string | ~[]byte](t testing.TB, name string, got T, rules ...Rule) {
	t.Helper()
	here.assert(t, name, Normalize(string(got), rules...))
}

// here is the package under test: go test starts the binary in its folder.
var here = &folder{dir: workingDir(), updating: Updating}

func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return "." // Go on with relative paths: right as long as no test changes the folder.
	}
	return dir
}

// A folder is one package's testdata and what this run has asserted of it.
type folder struct {
	dir      string // the package's folder, absolute
	updating func() bool

	mu   sync.Mutex
	used map[string]claim // by name
}

// A claim says which test asserted a name first in this run, and with which text.
type claim struct {
	test string
	sum  [sha256.Size]byte
}

func (f *folder) assert(t testing.TB, name, got string) {
	t.Helper()
	rel, err := fileOf(name)
	if err != nil {
		t.Errorf("golden: %v", err)
		return
	}
	if refuseEmpty(t, rel, got) {
		return
	}
	first := f.claim(t.Name(), name, got)
	if f.updating() {
		if ci := ciVariable(); ci == "" {
			f.accept(t, rel, got, first)
			return
		}
		t.Errorf("golden: %s: rewriting was asked for where CI is set: want it on a machine where a person reads the change; unset CI, or drop -update and %s", rel, envUpdate)
	}
	f.compare(t, rel, got)
}

// claim notes that the name was asserted, and returns the first claim to it.
func (f *folder) claim(test, name, got string) claim {
	f.mu.Lock()
	defer f.mu.Unlock()
	if first, ok := f.used[name]; ok {
		return first
	}
	if f.used == nil {
		f.used = make(map[string]claim)
	}
	c := claim{test: test, sum: sha256.Sum256([]byte(got))}
	f.used[name] = c
	return c
}

func (f *folder) compare(t testing.TB, rel, got string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(rel)))
	want := string(data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Errorf("golden: %s does not exist; the test got %d bytes:\n%s\ncreate it with: %s",
			rel, len(got), diff("", got), acceptCommand(t.Name()))
	case err != nil:
		t.Errorf("golden: %s can't be read: %v; want a file of text, made with: %s", rel, err, acceptCommand(t.Name()))
	case !sameText(want, got):
		t.Errorf("golden: %s differs from what the test got (-want +got):\n%s\naccept it with: %s",
			rel, diff(asCheckedOut(want, got), got), acceptCommand(t.Name()))
	}
}

func (f *folder) accept(t testing.TB, rel, got string, first claim) {
	t.Helper()
	if first.sum != sha256.Sum256([]byte(got)) {
		t.Errorf("golden: %s was given another text before in this run, by %s: want one text for one name; use two names, or a rule for what varies",
			rel, first.test)
		return
	}
	path := filepath.Join(f.dir, filepath.FromSlash(rel))
	f.mu.Lock()
	defer f.mu.Unlock()
	if old, err := os.ReadFile(path); err == nil && sameText(string(old), got) {
		return
	}
	if err := writeFile(path, withFinalNewline(got)); err != nil {
		t.Errorf("golden: %s can't be written: %v; nothing was changed", rel, err)
		return
	}
	t.Logf("golden: wrote %s", rel)
}

// diff is go-cmp's over the lines of both texts, which it quotes, so that
// blanks, carriage returns and escape codes are seen. The spaces that it varies
// on purpose are made plain, for searching and copying.
func diff(want, got string) string {
	d := cmp.Diff(linesOf(want), linesOf(got))
	return strings.TrimSuffix(strings.ReplaceAll(d, "\u00a0", " "), "\n")
}

// A line is opaque to go-cmp, which would otherwise take two similar strings
// apart and bury the columns of a table. Its ending is not shown.
type line struct{ text string }

func (l line) Equal(other line) bool { return l.text == other.text }
func (l line) String() string        { return l.text }

func linesOf(text string) []line {
	if text == "" {
		return nil
	}
	var lines []line
	for s := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		lines = append(lines, line{s})
	}
	return lines
}

// fileOf returns the file of a name, relative to the package's folder, with
// slashes, or an error that says what is wrong with the name.
func fileOf(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", fmt.Errorf("name %q: %w", name, err)
	}
	return "testdata/" + name + extension, nil
}
