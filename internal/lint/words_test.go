package lint

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	exists := func(name string) bool { return name == "README.md" }
	for _, c := range []struct{ text, want string }{
		{"see README.md", ""},
		{"see SECRETS.md", "no such document"},
		{"reads /work/main/x", "a path of one machine"},
		{"below testdata/tmp/x and $(mktemp)", ""},
		{"from " + "proxy" + ".golang.org", "registry"},
		{"an Assistant wrote it", "write about the project"},
		{"as the spec says", "the reader doesn't have"},
		{"solves issue 12", "the reader doesn't have"},
		{"kubernetes/kubernetes#1234 and the spec of a node", ""},
	} {
		found := Words("a.go", []byte("first line\n"+c.text+"\n"), exists)
		switch {
		case c.want == "" && len(found) > 0:
			t.Errorf("%q: found %v, want nothing", c.text, found)
		case c.want != "" && (len(found) != 1 || found[0].Line != 2 || !strings.Contains(found[0].Text, c.want)):
			t.Errorf("%q: found %v, want one finding at line 2 with %q", c.text, found, c.want)
		}
	}
}

func TestDialect(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"docs/a.md", "Whoever drains posts evictions.", "name who or what it is"},
		{"docs/a.md", "A performance that is gone on with ends", "say live run"},
		{"docs/a.md", "It costs performance.", "say live run"},
		{"docs/a.md", "a `Performance` and `behind it`", ""},
		{"docs/a.md", "The line after it, resumed.", ""},
		{"a.go", "// whoever drains", "name who or what it is"},
		{"a.go", "x := 1 // it is gone on with", "say resume or continue"},
		{"a.go", "/* one\nbehind it */", "say after"},
		{"a.go", `var x = "want one and nothing behind it"`, "say after"},
		{"a.go", "var x = `one\nbehind it\n`", "say after"},
		{"a.go", "func whoever(diary string) { performance() }", ""},
		{"a.go", `import "github.com/chromedp/cdproto/performance"`, ""},
		{"a.go", "var x = `performance.getEntries()`", ""},
		{"shipped/a.yaml", "description: drained behind its finalizer", "say after"},
		{"a/testdata/roll.yaml", "apiVersion: nodesim.dev/v1\nkind: Timeline\n---\nwhoever", ""},
		{"a/testdata/script/a.txtar", "# it ends in good order", "say cleanly"},
		{"a/a.js", "performance.now() // whoever", ""},
	} {
		found := Words(c.file, []byte(c.text+"\n"), func(string) bool { return true })
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) == 0 || !strings.Contains(found[0].Text, c.want)) {
			t.Errorf("%s: %q: found %v, want %q", c.file, c.text, found, c.want)
		}
	}
	found := Words("a.go", []byte("package a\n\n// x\nvar s = `a\r\nwhoever`\n"), func(string) bool { return true })
	if len(found) != 1 || found[0].Line != 5 || !strings.HasPrefix(found[0].Text, `"whoever": `) {
		t.Errorf("found %v, want whoever in line 5", found)
	}
}

func TestProse(t *testing.T) {
	for file, want := range map[string]bool{
		"timeline/reader.go":       true,
		"docs/format.md":           true,
		"internal/lint/words.go":   false,
		"testdata/surge.golden":    false,
		"x/testdata/fuzz/F/1":      false,
		"examples/surge.yaml":      false,
		"test/controlplane/go.sum": false,
	} {
		if got := Prose(file); got != want {
			t.Errorf("Prose(%q): found %t, want %t", file, got, want)
		}
	}
}
