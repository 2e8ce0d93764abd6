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
	for text, want := range map[string]string{
		"Whoever drains posts evictions.":         "name who or what it is",
		"A performance that is gone on with ends": "say live run",
		"a `Performance` and `behind it`":         "",
		"The line after it, resumed.":             "",
	} {
		found := Words("docs/a.md", []byte(text+"\n"), func(string) bool { return true })
		if want == "" && len(found) > 0 || want != "" && (len(found) == 0 || !strings.Contains(found[0].Text, want)) {
			t.Errorf("%q: found %v, want %q", text, found, want)
		}
	}
	if found := Words("a.go", []byte("// whoever\n"), func(string) bool { return true }); len(found) > 0 {
		t.Errorf("in code: found %v, want nothing", found)
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
