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

// Taker takes the results of one kind.
type Taker struct {
	Results
	Take func(line []byte) error
}

// Read gives each result in the files to the taker of its kind, in their order; "-" is standard input. A result is on a line of its own,
// among others that a log may have. A file without any is refused.
func Read(files []string, stdin io.Reader, takers ...Taker) error {
	for _, name := range files {
		if err := file(name, stdin, takers); err != nil {
			return err
		}
	}
	return nil
}

func file(name string, stdin io.Reader, takers []Taker) (err error) {
	if name == "-" {
		return lines("(standard input)", stdin, takers)
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return lines(name, f, takers)
}

// lines gives each result in a text to its taker. name is the text's in errors.
func lines(name string, from io.Reader, takers []Taker) error {
	found := false
	text := bufio.NewScanner(from)
	text.Buffer(nil, mostLine)
	n := 1
	for ; text.Scan(); n++ {
		line := bytes.TrimSpace(text.Bytes())
		for _, t := range takers {
			if !bytes.HasPrefix(line, []byte(`{"kind":"`+t.Kind+`"`)) {
				continue
			}
			found = true
			if err := t.Take(line); err != nil {
				return fmt.Errorf("%s: line %d: %w: want a line of %s", name, n, err, t.Command)
			}
		}
	}
	if err := text.Err(); err != nil {
		return fmt.Errorf("%s: line %d: %w", name, n, err)
	}
	if !found {
		return fmt.Errorf("%s: found no result: want a line of %s", name, takers[0].Command)
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
