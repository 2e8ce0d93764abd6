package lint

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// deadModule has every reason for which a name of an internal package is used, and what no reason holds for.
var deadModule = map[string]string{
	"go.mod": "module " + module + "\n\ngo 1.26.0\n",
	"internal/phrase/phrase.go": `package phrase

import "fmt"

type Used struct{ inner }

func (Used) String() string { return "used: it makes a Used a fmt.Stringer" }

func (Used) Called() {}

func (u Used) Dead() { u.Dead() }

type inner struct{}

func (inner) Close() error { return nil }

type Level int

const (
	Low Level = iota
	High
)

const Alone = 3

var Forgotten = fmt.Sprint(1)

func All[T any](of T) T { return of }

func Some[T any](of T) T { return Some(of) }
`,
	"internal/phrase/phrase_test.go": `package phrase

func uses() (int, string, int) { Used{}.Dead(); return Alone, Forgotten, Some(1) }
`,
	// The layout has it for tests.
	"internal/testing/tapediff/diff.go": "package tapediff\n\nfunc Diff() {}\n",
	// Its users are not known.
	"timeline/timeline.go": "package timeline\n\nfunc Open() {}\n",
	"cmd/nodesim/main.go": `package main

import (
	"io"

	"github.com/nodesim/nodesim/internal/phrase"
)

func main() {
	var used phrase.Used
	used.Called()
	var c io.Closer = used
	_, _ = phrase.All(c), phrase.High
}
`,
}

func TestDead(t *testing.T) {
	root := t.TempDir()
	for name, text := range deadModule {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := Dead(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.String())
	}
	const remedy = "; remove it, or move it to a _test.go file"
	want := []string{
		"internal/phrase/phrase.go:11: only tests use Dead" + remedy,
		"internal/phrase/phrase.go:24: only tests use Alone" + remedy,
		"internal/phrase/phrase.go:26: only tests use Forgotten" + remedy,
		"internal/phrase/phrase.go:30: only tests use Some" + remedy,
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q\nwant %q", got, want)
	}
}
