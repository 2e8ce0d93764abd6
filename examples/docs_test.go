package examples_test

import (
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
// that file.
func TestManualsShowCodeThatRuns(t *testing.T) {
	shown := regexp.MustCompile("(?s)<!-- (examples/\\S+) -->\n```(go|text)\n(.*?)```\n")
	for file, want := range map[string]int{"testing.md": 5, "serve.md": 1} {
		manual := filepath.Join("..", "docs", file)
		b, err := os.ReadFile(manual)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		text := shown.ReplaceAllStringFunc(string(b), func(part string) string {
			found := shown.FindStringSubmatch(part)
			name, language := found[1], found[2]
			code, err := os.ReadFile(filepath.Join("..", name))
			if err != nil {
				t.Fatal(err)
			}
			n++
			return "<!-- " + name + " -->\n```" + language + "\n" + string(code) + "```\n"
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
