package controller

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/golden"
)

// The guide shows the code that runs: what stands behind a comment that names
// a file is that file.
func TestGuideShowsThisCode(t *testing.T) {
	guide := filepath.Join("..", "..", "docs", "testing.md")
	b, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)<!-- (examples/\\S+) -->\n```go\n(.*?)```\n")
	n := 0
	text := shown.ReplaceAllStringFunc(string(b), func(part string) string {
		m := shown.FindStringSubmatch(part)
		code, err := os.ReadFile(filepath.Join("..", "..", m[1]))
		if err != nil {
			t.Fatal(err)
		}
		n++
		return "<!-- " + m[1] + " -->\n```go\n" + string(code) + "```\n"
	})
	if n != 2 {
		t.Errorf("%d files in the guide, want 2", n)
	}
	if golden.Updating() {
		if err := os.WriteFile(guide, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(strings.Split(text, "\n"), strings.Split(string(b), "\n")); d != "" {
		t.Errorf("docs/testing.md shows other code than there is (-code +guide), accept it with: go test ./examples/controller -update\n%s", d)
	}
}
