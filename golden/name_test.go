package golden

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for _, name := range []string{
		"feed", "TestFeed/surge", "a/b/c", "a_b#01", "panel.80x24", "größe", "节点", ".hidden", "..a", "-x", "a b",
		strings.Repeat("x", longestElement),
	} {
		if err := checkName(name); err != nil {
			t.Errorf("checkName(%q) = %v, want none", name, err)
		}
	}
}

func TestHostileNames(t *testing.T) {
	for name, remedy := range map[string]string{
		"":                   "want the name of a file",
		"..":                 "want a name below testdata",
		"../x":               "want a name below testdata",
		"a/../../x":          "want a name below testdata",
		"a/..":               "want a name below testdata",
		"./x":                "want a name below testdata",
		"/etc/passwd":        "want no slash at the ends",
		"a/":                 "want no slash at the ends",
		"a//b":               "no two in a row",
		`..\x`:               "printable characters without",
		`C:x`:                "printable characters without",
		"a\x00b":             "printable characters without",
		"a\nb":               "printable characters without",
		"a\x1b[2Jb":          "printable characters without",
		"a\u202eb":           "printable characters without",
		"a\u200bb":           "printable characters without",
		"a\xffb":             "invalid UTF-8",
		"a.":                 "which Windows drops",
		"a ":                 "which Windows drops",
		" a":                 "which Windows drops",
		"feed.golden":        "leave it out",
		"a?":                 "printable characters without",
		"x" + longest() + "": "want at most 200",
	} {
		f := inFolder(t, nil)
		t.Setenv(envUpdate, "1")
		tb := &fakeTB{name: "TestFeed"}
		f.assert(tb, name, "text")
		tb.onlyError(t, remedy)
		if left, _ := filepath.Glob(filepath.Join(f.dir, "*")); len(left) != 0 {
			t.Errorf("name %q left %q behind", name, left)
		}
	}
}

func longest() string { return strings.Repeat("x", longestElement) }

func FuzzNameStaysBelowTestdata(f *testing.F) {
	for _, seed := range []string{"feed", "../x", "a/b", "a//b", "/", ".", "a/../b", "\\", "a\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		rel, err := fileOf(name)
		if err != nil {
			return
		}
		clean := filepath.ToSlash(filepath.Clean(filepath.FromSlash(rel)))
		if clean != rel || !strings.HasPrefix(clean, "testdata/") || !filepath.IsLocal(filepath.FromSlash(rel)) {
			t.Errorf("name %q became %q, which is not a plain path below testdata", name, rel)
		}
	})
}
