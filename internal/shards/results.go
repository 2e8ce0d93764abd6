package shards

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// mostLine bounds a line of a log: a result with all that it holds.
const mostLine = 64 << 20

// Results say which lines of a log are results.
type Results struct {
	// Kind is what a result's first key, "kind", says.
	Kind string
	// Command writes such lines, for messages: "nodesim hunt -o json".
	Command string
}

// Read calls take with each result in the files, in their order; "-" is standard input. A result is on a line of its own, among others that
// a log may have. A file without any is refused.
func (r Results) Read(files []string, stdin io.Reader, take func(line []byte) error) error {
	for _, name := range files {
		if err := r.file(name, stdin, take); err != nil {
			return err
		}
	}
	return nil
}

func (r Results) file(name string, stdin io.Reader, take func(line []byte) error) (err error) {
	if name == "-" {
		return r.lines("(standard input)", stdin, take)
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return r.lines(name, f, take)
}

// lines calls take with each result in a text. name is the text's in errors.
func (r Results) lines(name string, from io.Reader, take func(line []byte) error) error {
	begin, found := []byte(`{"kind":"`+r.Kind+`"`), false
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, mostLine)
	n := 1
	for ; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if !bytes.HasPrefix(line, begin) {
			continue
		}
		found = true
		if err := take(line); err != nil {
			return fmt.Errorf("%s: line %d: %w: want a line of %s", name, n, err, r.Command)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: line %d: %w", name, n, err)
	}
	if !found {
		return fmt.Errorf("%s: found no result: want a line of %s", name, r.Command)
	}
	return nil
}

// Lacking are the indexes of which there is nothing.
func Lacking(of int, there func(index int) bool) (lacks []int) {
	for index := range of {
		if !there(index) {
			lacks = append(lacks, index)
		}
	}
	return lacks
}

// mostNamed bounds the indexes that a message names.
const mostNamed = 20

// Named are some of the shards as words: shards 1, 4.
func Named(indexes []int) string {
	noun := "shard "
	if len(indexes) > 1 {
		noun = "shards "
	}
	var words []string
	for _, n := range indexes[:min(len(indexes), mostNamed)] {
		words = append(words, fmt.Sprint(n))
	}
	text := noun + strings.Join(words, ", ")
	if more := len(indexes) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
