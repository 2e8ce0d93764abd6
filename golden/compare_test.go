package golden

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSameText(t *testing.T) {
	for name, c := range map[string]struct {
		file, got string
		want      bool
	}{
		"equal":                            {"a\nb\n", "a\nb\n", true},
		"different":                        {"a\nb\n", "a\nc\n", false},
		"text without final newline":       {"a\n", "a", true},
		"file without final newline":       {"a", "a\n", true},
		"two final newlines are a line":    {"a\n\n", "a\n", false},
		"file with CRLF":                   {"a\r\nb\r\n", "a\nb\n", true},
		"CRLF in one line only":            {"a\r\nb\n", "a\nb\n", false},
		"text with CRLF, file with LF":     {"a\nb\n", "a\r\nb\r\n", false},
		"both with CRLF":                   {"a\r\nb\r\n", "a\r\nb\r\n", true},
		"lone CR in the text":              {"a\rb\n", "a\rb\n", true},
		"both empty":                       {"", "", true},
		"empty file, one blank line":       {"", "\n", false},
		"empty text, one blank line":       {"\n", "", false},
		"blanks at the end of a line":      {"a \n", "a\n", false},
		"not UTF-8":                        {"\xff\xfe\x00", "\xff\xfe\x00", true},
		"not UTF-8 and different":          {"\xff\xfe\x00", "\xff\xfe\x01", false},
		"no-break space against a space":   {"a\u00a0b\n", "a b\n", false},
		"CRLF file without its last CRLF":  {"a\r\nb", "a\nb", true},
		"escape sequence against its name": {"\x1b[1m\n", "^[[1m\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sameText(c.file, c.got); got != c.want {
				t.Errorf("sameText(%q, %q) = %v, want %v", c.file, c.got, got, c.want)
			}
		})
	}
}

func TestAssertPassesInSilence(t *testing.T) {
	f := inFolder(t, map[string]string{"testdata/TestFeed/surge.golden": "one\ntwo\n"})
	tb := &fakeTB{name: "TestFeed/surge"}
	f.assert(tb, "TestFeed/surge", "one\ntwo\n")
	tb.noError(t)
	if len(tb.logs) != 0 {
		t.Errorf("got logs %q, want none", tb.logs)
	}
}

func TestDifferenceShowsDiffFileAndCommand(t *testing.T) {
	f := inFolder(t, map[string]string{"testdata/feed.golden": lines("two")})
	tb := &fakeTB{name: "TestFeed/a'b(c)"}
	f.assert(tb, "feed", lines("2"))
	tb.onlyError(t,
		"testdata/feed.golden differs",
		`- 	s"two",`, `+ 	s"2",`,
		`accept it with: go test github.com/nodesim/nodesim/golden -run '^TestFeed$/^a'\''b\(c\)$' -update`)
	if got := f.read(t, "testdata/feed.golden"); got != lines("two") {
		t.Errorf("the file became %q: comparing must not write", got)
	}
}

func lines(second string) string { return "one\n" + second + "\nthree\nfour\nfive\nsix\n" }

func TestMissingFile(t *testing.T) {
	f := inFolder(t, nil)
	tb := &fakeTB{name: "TestFeed"}
	f.assert(tb, "feed", "one\n")
	tb.onlyError(t, "testdata/feed.golden does not exist", "one", "create it with: go test ")
	if _, err := os.Stat(filepath.Join(f.dir, "testdata")); !os.IsNotExist(err) {
		t.Errorf("comparing made a folder (stat: %v)", err)
	}
}

func TestUnreadableFile(t *testing.T) {
	f := inFolder(t, map[string]string{"testdata/feed.golden/x": ""})
	tb := &fakeTB{name: "TestFeed"}
	f.assert(tb, "feed", "one\n")
	tb.onlyError(t, "testdata/feed.golden can't be read", "want a file of text")
}

func TestOneTestReportsAllItsDifferences(t *testing.T) {
	f := inFolder(t, nil)
	tb := &fakeTB{name: "TestFeed"}
	f.assert(tb, "one", "1")
	f.assert(tb, "two", "2")
	if len(tb.errors) != 2 {
		t.Errorf("got %d errors, want one for each file", len(tb.errors))
	}
}

// Assert itself uses the folder of this package, wherever the test has gone.
func TestAssertKeepsToThePackage(t *testing.T) {
	t.Chdir(t.TempDir())
	Assert(t, t.Name(), []byte("The folder is that of the package.\n"))
}
