package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// compare counts the tests that pass on one cluster, and those of them that pass on another one too, and lists the rest.
func compare(w io.Writer, one, other string) error {
	a, err := read(one)
	if err != nil {
		return err
	}
	b, err := read(other)
	if err != nil {
		return err
	}
	outcome := map[string][]string{}
	for _, line := range b {
		outcome[line[2]] = line
	}
	passed, both := 0, 0
	for _, line := range a {
		if line[0] != "passed" {
			continue
		}
		passed++
		if got := outcome[line[2]]; got == nil {
			fmt.Fprintf(w, "not run: %s\n", line[2])
		} else if got[0] == "passed" {
			both++
		} else {
			fmt.Fprintf(w, "%s: %s: %s\n", got[0], line[2], got[3])
		}
	}
	_, err = fmt.Fprintf(w, "%d of the %d tests that pass on the one pass on the other too\n", both, passed)
	return err
}

// read reads the lines of results: what became of a test, its seconds, its name, and why it failed.
func read(file string) (lines [][]string, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		if parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4); len(parts) == 4 {
			lines = append(lines, parts)
		}
	}
	return lines, nil
}
