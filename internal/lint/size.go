package lint

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// MostFiles is how many Go files a folder may have, tests not counted: so few that names alone lead a reader to the
// place. Split by idea what has more.
const MostFiles = 40

// A Size is the amount of code in a repository.
type Size struct {
	Lines    int            // of Go files that aren't tests
	Packages int            // folders with such files
	Files    map[string]int // such files by folder
}

// Count measures the Go code of the main module and of what is beside it: no tests, no modules of tests below test/.
func Count(files map[string][]byte) Size {
	size := Size{Files: map[string]int{}}
	for file, text := range sources(files) {
		size.Lines += bytes.Count(text, []byte("\n"))
		size.Files[folder(file)]++
	}
	size.Packages = len(size.Files)
	return size
}

// String is one line for people.
func (s Size) String() string {
	largest := slices.MaxFunc(slices.Sorted(maps.Keys(s.Files)), func(a, b string) int { return s.Files[a] - s.Files[b] })
	return fmt.Sprintf("%d lines of Go without tests in %d packages; the largest folder is %s with %d files",
		s.Lines, s.Packages, largest, s.Files[largest])
}

// crowded finds the folders with too many files.
func (s Size) crowded() []Finding {
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		if s.Files[name] > MostFiles {
			found = append(found, Finding{name, 1, fmt.Sprintf(
				"found %d files without tests in one folder, want at most %d; split the package by idea", s.Files[name], MostFiles)})
		}
	}
	return found
}

// sources are the Go files of the main module that aren't tests or data of tests.
func sources(files map[string][]byte) map[string][]byte {
	code := map[string][]byte{}
	for file, text := range files {
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") &&
			!strings.HasPrefix(file, "test/") && !strings.Contains("/"+file, "/testdata/") {
			code[file] = text
		}
	}
	return code
}

func folder(file string) string { return path.Dir(file) }

func sorted(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }
