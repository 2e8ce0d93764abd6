package tapetest

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/policy"
)

// Print writes one result for people. Tapes that pass are shown only with
// verbose or where a policy has something to say; files that were written
// always.
func (r Result) Print(w io.Writer, verbose bool) {
	switch {
	case !r.Passed():
		fmt.Fprintf(w, "--- FAIL: %s%s\n", noderoll.OneLine(r.Name), seconds(r.Took))
		for _, failure := range r.Failures {
			for line := range strings.Lines(failure) {
				fmt.Fprintf(w, "    %s\n", clean(line))
			}
		}
	case verbose || slices.ContainsFunc(r.Policies, notable):
		fmt.Fprintf(w, "--- PASS: %s%s\n", noderoll.OneLine(r.Name), seconds(r.Took))
	}
	for _, p := range r.Policies {
		if verbose || notable(p) {
			indented(w, p)
		}
	}
	for _, file := range r.Updated {
		note := ""
		if file.empty {
			note = ": the feed is empty: nothing happens to a node on this tape"
		}
		fmt.Fprintf(w, "wrote %s%s\n", noderoll.OneLine(file.path), note)
	}
}

// notable reports whether a policy is violated, if only by a warning, or no rule
// of it applied to anything.
func notable(p policy.Result) bool {
	applied := 0
	for _, rule := range p.Rules {
		if len(rule.Violations) > 0 {
			return true
		}
		applied += rule.Applied
	}
	return applied == 0
}

// indented writes what a policy says, below the line of its tape.
func indented(w io.Writer, p policy.Result) {
	var b strings.Builder
	_ = p.Text(&b) // a Builder takes all
	for line := range strings.Lines(b.String()) {
		fmt.Fprintf(w, "    %s", line)
	}
}

// Summary is the last line of a run.
func (rep Report) Summary() string {
	return fmt.Sprintf("%d passed, %d failed", rep.Passed, rep.Failed)
}

// clean keeps the columns of a line, and nothing that acts on a terminal. A
// tape's text can't come here raw, but a golden file is a file like any other.
func clean(line string) string {
	line = strings.TrimRight(line, "\r\n")
	rest := strings.TrimLeft(line, " \t")
	indent := line[:len(line)-len(rest)]
	var b strings.Builder
	for i, word := range strings.Split(rest, " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(noderoll.OneLine(word))
	}
	return indent + b.String()
}

// seconds are what a test took, where that is known.
func seconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.2fs)", d.Seconds())
}
