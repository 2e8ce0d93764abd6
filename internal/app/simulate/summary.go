package simulate

import (
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
)

// Summarize tells what a simulation came to, and what to try next. "-" stands for
// standard output.
func Summarize(w io.Writer, file string, s Summary) {
	name := file
	if file == "-" {
		name = "standard output"
	}
	fmt.Fprintf(w, "%s: %s in %s, %s%s\n", noderoll.OneLine(name), phrase.Count(s.Events, "event"), s.At.Round(time.Millisecond), phrase.Bytes(s.Bytes), s.ending())
	for _, m := range s.Marks {
		line := position(m.At) + " " + noderoll.OneLine(m.Name)
		if m.Reason != "" {
			line += ": " + noderoll.OneLine(m.Reason)
		}
		fmt.Fprintln(w, "  "+line)
	}
	if file == "-" {
		return
	}
	fmt.Fprintf(w, "see it again: nodesim replay %s --speed 20x\n", record.Quote(file))
}

// ending says in a few words how the rolls ended.
func (s *Summary) ending() string {
	failed := 0
	for _, reason := range s.Rolls {
		if reason != "" {
			failed++
		}
	}
	switch n := len(s.Rolls); {
	case !s.Planned:
		return ""
	case n == 0:
		return "; the roll is not over"
	case n == 1 && failed == 0:
		return "; the roll is complete"
	case n == 1:
		return "; the roll has failed"
	case failed == 0:
		return fmt.Sprintf("; %d rolls are complete", n)
	default:
		return fmt.Sprintf("; %d of %d rolls failed", failed, n)
	}
}
