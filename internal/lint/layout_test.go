package lint

import (
	"slices"
	"strings"
	"testing"
)

const smallLayout = `# comment
leaf decider :

base decider : leaves
top : base leaves
main : *
`

func TestParseLayout(t *testing.T) {
	l, err := ParseLayout(smallLayout)
	if err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{"leaf": true, "base": true, "top": false, "unknown": false} {
		if got := l.Decider(folder); got != want {
			t.Errorf("Decider(%q): found %t, want %t", folder, got, want)
		}
	}
	for text, want := range map[string]string{
		"a b":           "layout.txt:1: \"a b\": want PACKAGE [decider] : IMPORTS",
		"a pure : b":    "want PACKAGE [decider] : IMPORTS",
		"a :\n\na : b":  "layout.txt:3: a has a row already",
		"\n: something": "layout.txt:2:",
	} {
		if _, err := ParseLayout(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseLayout(%q): found error %v, want one with %q", text, err, want)
		}
	}
}

func TestArrows(t *testing.T) {
	l, err := ParseLayout(smallLayout)
	if err != nil {
		t.Fatal(err)
	}
	source := func(imports ...string) []byte {
		text := "package p\n\n"
		for _, i := range imports {
			text += "import _ \"" + i + "\"\n"
		}
		return []byte(text)
	}
	whole := map[string][]byte{
		"leaf/a.go": source("fmt"), "base/a.go": source(module + "/leaf"), "top/a.go": source(module+"/base", module+"/leaf"),
		"main/a.go": source(module+"/top", module+"/base"),
	}
	for _, c := range []struct {
		name string
		edit map[string][]byte
		want []string
	}{
		{"as the table says", nil, nil},
		{"an arrow up", map[string][]byte{"base/b.go": source("os", module+"/top")},
			[]string{"base/b.go:4: base imports top, which internal/lint/layout.txt:4 doesn't allow"}},
		{"a leaf that imports a leaf", map[string][]byte{"leaf/b.go": source(module + "/leaf/x")},
			[]string{"leaf/b.go:3: leaf imports leaf/x"}},
		{"a package without a row", map[string][]byte{"new/a.go": source()}, []string{"new/a.go:1: package new has no row"}},
		{"a row without a package", map[string][]byte{"main/a.go": nil}, []string{"layout.txt:6: found no package main"}},
		{"an arrow that isn't needed", map[string][]byte{"top/a.go": source(module + "/leaf")},
			[]string{"layout.txt:5: top doesn't import base"}},
	} {
		files := map[string][]byte{}
		for _, from := range []map[string][]byte{whole, c.edit} {
			for file, text := range from {
				files[file] = text
			}
		}
		for file, text := range files {
			if text == nil {
				delete(files, file)
			}
		}
		found, err := l.Arrows(files)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != len(c.want) || !slices.EqualFunc(found, c.want, func(f Finding, want string) bool {
			return strings.Contains(f.String(), want)
		}) {
			t.Errorf("%s: found %v, want %q", c.name, found, c.want)
		}
	}
	if _, err := l.Arrows(map[string][]byte{"leaf/a.go": []byte("pack")}); err == nil {
		t.Error("a file that doesn't parse: found no error")
	}
}
