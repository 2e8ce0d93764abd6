package lint

import (
	"slices"
	"strings"
	"testing"
)

// fewLines is a page about a repository of 1,000 lines in one package, with one long test.
const fewLines = "# Contributing\n\n| number | now | goal |\n|---|---|---|\n| lines of Go without tests | 1,010 | 900 |\n| packages | 1 | |\n" +
	"| most files in a folder, tests not counted | 2 (`a`) | 40 |\n\n## Long tests\n\n| tests | make test | make soak |\n|---|---|---|\n| `b` | 5 | 200 |\n| fuzz targets | 0 | 1h |\n\n## Else\n\n| `c` | |\n"

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     []string
	}{
		{"", "", nil},
		{"1,010", "1,019", nil},
		{"1,010", "1,021", []string{"CONTRIBUTING.md:5: lines of Go: found 1021, want 1000, as go run ./internal/lint/house -size counts them"}},
		{"1,010", "979", []string{"CONTRIBUTING.md:5: lines of Go: found 979, want 1000, as go run ./internal/lint/house -size counts them"}},
		{"| packages | 1 ", "| packages | 2 ", []string{"CONTRIBUTING.md:6: packages: found 2, want 1, as go run ./internal/lint/house -size counts them"}},
		{"| packages", "| folders", []string{"CONTRIBUTING.md:1: packages: found 0, want 1, as go run ./internal/lint/house -size counts them"}},
		{"| 2 (`a`)", "| 3 (`a`)", []string{"CONTRIBUTING.md:7: most files in a folder: found 3, want 2, as go run ./internal/lint/house -size counts them"}},
		{"| `b`", "| `d`", []string{
			"CONTRIBUTING.md:13: long tests: found `d`: want a folder with a test that asks for NODESIM_SOAK",
			"CONTRIBUTING.md:9: long tests: found no row of `b`: want one, since b/b_test.go asks for NODESIM_SOAK",
		}},
	} {
		files := map[string][]byte{
			"a/a.go":           []byte(strings.Repeat("\n", 600)),
			"a/b.go":           []byte(strings.Repeat("\n", 400)),
			"test/e2e/main.go": []byte(strings.Repeat("\n", 500)),
			"b/b_test.go":      []byte("var long = os.Getenv(\"NODESIM_SOAK\") != \"\"\n"),
			"b/c_test.go":      []byte("package b\n"),
			contributing:       []byte(strings.Replace(fewLines, c.from, c.to, 1)),
		}
		var found []string
		for _, f := range numbers(files) {
			found = append(found, f.String())
		}
		if !slices.Equal(found, c.want) {
			t.Errorf("%q in place of %q: found %q, want %q", c.to, c.from, found, c.want)
		}
	}
	if found := numbers(map[string][]byte{"a.go": nil}); found != nil {
		t.Errorf("without the page: found %v, want nothing", found)
	}
}
