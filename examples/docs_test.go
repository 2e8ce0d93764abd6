package examples_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/golden"
)

func TestMain(m *testing.M) { golden.Main(m, "*.feed.golden", "*.panel.golden") }

// The manuals show code that runs: a block after a comment that names a file is
// that file, or the test of it that the comment names too.
func TestManualsShowCodeThatRuns(t *testing.T) {
	shown := regexp.MustCompile("(?s)<!-- (examples/\\S+)( Test\\w+)? -->\n```(go|text)\n(.*?)```\n")
	for file, want := range map[string]int{"testing.md": 7, "serve.md": 1} {
		manual := filepath.Join("..", "docs", file)
		b, err := os.ReadFile(manual)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		text := shown.ReplaceAllStringFunc(string(b), func(part string) string {
			found := shown.FindStringSubmatch(part)
			name, test, language := found[1], found[2], found[3]
			code, err := os.ReadFile(filepath.Join("..", name))
			if err != nil {
				t.Fatal(err)
			}
			if test != "" {
				code = function(t, code, test[1:])
			}
			n++
			return "<!-- " + name + test + " -->\n```" + language + "\n" + string(code) + "```\n"
		})
		if n != want {
			t.Errorf("%s: %d files, want %d", manual, n, want)
		}
		if golden.Updating() {
			if err := os.WriteFile(manual, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if d := cmp.Diff(strings.Split(text, "\n"), strings.Split(string(b), "\n")); d != "" {
			t.Errorf("%s shows other code than there is (-code +manual), accept it with: NODESIM_UPDATE=1 go test ./examples -run TestManuals\n%s", manual, d)
		}
	}
}

// mostLines is how many lines the test may have that a manual shows alone.
const mostLines = 25

// function is the text of a file's function.
func function(t *testing.T, file []byte, name string) []byte {
	t.Helper()
	_, from, there := bytes.Cut(file, []byte("\nfunc "+name+"("))
	body, _, ends := bytes.Cut(from, []byte("\n}\n"))
	if !there || !ends {
		t.Fatalf("found no function %s", name)
	}
	text := "func " + name + "(" + string(body) + "\n}\n"
	if n := strings.Count(text, "\n"); n > mostLines {
		t.Errorf("%s has %d lines, want at most %d", name, n, mostLines)
	}
	return []byte(text)
}
