package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// contributing is the page that says how large the repository is, and what its long tests are.
const contributing = "CONTRIBUTING.md"

// soakVariable is what a test asks for whether its long run is meant. No test of this package does.
const soakVariable = "NODESIM_SOAK"

// numbers compares the page's numbers with the repository, and its table of long tests with the tests that have a long run. A
// repository without the page has nothing to compare.
func numbers(files map[string][]byte) (found []Finding) {
	page, ok := files[contributing]
	if !ok {
		return nil
	}
	size := Count(files)
	most := 0
	for _, n := range size.Files {
		most = max(most, n)
	}
	for _, row := range []struct {
		begin  string
		is     int
		spared int // of which so much may differ
	}{
		{"lines of Go ", size.Lines, size.Lines / 50},
		{"packages |", size.Packages, size.Packages / 50},
		{"most files in a folder", most, 0},
	} {
		said, line := rowNumber(page, row.begin)
		if line == 0 || said < row.is-row.spared || said > row.is+row.spared {
			found = append(found, Finding{contributing, max(line, 1), fmt.Sprintf("%s: found %d, want %d, as go run ./internal/lint/house -size counts them",
				strings.Trim(row.begin, " |"), said, row.is)})
		}
	}
	return append(found, longTests(page, files)...)
}

// rowNumber is the number in the row of a table that begins so, and the row's line; 0 where there is none.
func rowNumber(page []byte, begin string) (number, line int) {
	at := 0
	for row := range bytes.Lines(page) {
		at++
		rest, ok := strings.CutPrefix(string(row), "| "+begin)
		if !ok {
			continue
		}
		for cell := range strings.SplitSeq(rest, "|") {
			word, _, _ := strings.Cut(strings.TrimSpace(cell), " ")
			if n, err := strconv.Atoi(strings.ReplaceAll(word, ",", "")); err == nil {
				return n, at
			}
		}
	}
	return 0, 0
}

// longTests compares the rows below "## Long tests", each of which begins with a folder, with the folders whose tests have a long run.
func longTests(page []byte, files map[string][]byte) (found []Finding) {
	rows, heading, at := map[string]int{}, 0, 0
	within := false
	for row := range bytes.Lines(page) {
		at++
		if text := string(row); strings.HasPrefix(text, "## ") {
			if within = strings.TrimSpace(text) == "## Long tests"; within {
				heading = at
			}
		} else if rest, ok := strings.CutPrefix(text, "| `"); within && ok {
			name, _, _ := strings.Cut(rest, "`")
			rows[name] = at
		}
	}
	long := map[string]bool{}
	for _, file := range sorted(files) {
		if !strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "internal/lint/") || !bytes.Contains(files[file], []byte(soakVariable)) {
			continue
		}
		long[folder(file)] = true
		if rows[folder(file)] == 0 {
			found = append(found, Finding{contributing, max(heading, 1), fmt.Sprintf(
				"long tests: found no row of `%s`: want one, since %s asks for %s", folder(file), file, soakVariable)})
		}
	}
	for name, line := range rows {
		if !long[name] {
			found = append(found, Finding{contributing, line, fmt.Sprintf("long tests: found `%s`: want a folder with a test that asks for %s", name, soakVariable)})
		}
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.Text, b.Text) })
	return found
}
