package bugs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// A row of docs/bugs.md: the bug with its link, what its users saw, the test, what shows it.
	tableRow = regexp.MustCompile(`(?m)^\| \[[\w-]+#\d+\]\((https://github\.com/\S+)\) \| [^|]+ \| .(Test\w+). \| [^|]+ \|$`)
	testFunc = regexp.MustCompile(`(?m)^// (https://github\.com/\S+)\n(?://.*\n)+func (Test\w+)\(`)
)

// published is how many bugs there have to be at least.
const published = 10

// docs/bugs.md has a row for each bug, with the link and the test of its file, and no other.
func TestEveryBugIsInTheDocs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "bugs.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{} // links by test
	for _, row := range tableRow.FindAllStringSubmatch(string(text), -1) {
		rows[row[2]] = row[1]
	}
	if n := strings.Count(string(text), "\n| ["); n != len(rows) || n < published {
		t.Errorf("docs/bugs.md: found %d rows, %d of which have a link to GitHub, a test of their own and what shows it: want all, and at least %d", n, len(rows), published)
	}
	files, err := filepath.Glob("*_[0-9]*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := testFunc.FindStringSubmatch(string(code))
		if found == nil {
			t.Errorf("%s: found no test whose comment begins with a link to GitHub", file)
			continue
		}
		if link, name := found[1], found[2]; rows[name] != link {
			t.Errorf("docs/bugs.md: found the link %q in the row of %s, want %s, as in %s", rows[name], name, link, file)
		}
		delete(rows, found[2])
	}
	for name := range rows {
		t.Errorf("docs/bugs.md: found a row of %s, which no file has: remove it", name)
	}
}
