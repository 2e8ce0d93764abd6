package tapetest

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// row keeps go-cmp from taking two similar lines apart.
type row struct{ text string }

func (r row) Equal(other row) bool { return r.text == other.text }
func (r row) String() string       { return r.text }

func rows(text string) (all []row) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		all = append(all, row{strings.TrimSuffix(line, "\n")})
	}
	return all
}

var (
	reported = regexp.MustCompile(`^([-+ ])\s*s(".*"|\x60.*\x60),$`)
	skipped  = regexp.MustCompile(`^\s*\.\.\. // ([0-9]+) (identical|ignored)`)
)

// diff is go-cmp's, as lines of text with a mark before each: its Go syntax is
// for Go values, and these are none.
func diff(want, got string) string {
	var b strings.Builder
	report := strings.ReplaceAll(cmp.Diff(rows(want), rows(got)), "\u00a0", " ")
	for line := range strings.Lines(report) {
		line = strings.TrimSuffix(line, "\n")
		if m := reported.FindStringSubmatch(line); m != nil {
			if text, err := strconv.Unquote(m[2]); err == nil {
				b.WriteString(m[1] + " " + text + "\n")
			}
		} else if m := skipped.FindStringSubmatch(line); m != nil {
			b.WriteString("  … " + m[1] + " lines more\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
