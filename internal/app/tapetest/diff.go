package tapetest

import (
	"fmt"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

const (
	// diffContext is the number of equal lines shown before and after a difference.
	diffContext = 2
	// diffMost is the number of lines of a difference shown; the others are counted.
	diffMost = 400
)

// diff is the difference of two texts in lines with a mark before each. It is difflib's, which apimachinery links as well:
// go-cmp calls methods by reflection, which makes the linker keep every method of every type, 8 MB of the program.
func diff(want, got string) string {
	before, after := rows(want), rows(got)
	var out []string
	more := func(n int) {
		if n > 0 {
			out = append(out, fmt.Sprintf("  … %d lines more", n))
		}
	}
	end := 0 // of what is shown of before
	for _, group := range difflib.NewMatcher(before, after).GetGroupedOpCodes(diffContext) {
		more(group[0].I1 - end)
		for _, op := range group {
			if op.Tag == 'e' {
				out = append(out, marked("  ", before[op.I1:op.I2])...)
				continue
			}
			out = append(out, marked("- ", before[op.I1:op.I2])...)
			out = append(out, marked("+ ", after[op.J1:op.J2])...)
		}
		end = group[len(group)-1].I2
	}
	if end > 0 || len(out) > 0 {
		more(len(before) - end)
	}
	if len(out) > diffMost {
		out = append(out[:diffMost], fmt.Sprintf("  … %d lines more", len(out)-diffMost))
	}
	return strings.Join(out, "\n")
}

func rows(text string) (all []string) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		all = append(all, strings.TrimSuffix(line, "\n"))
	}
	return all
}

func marked(mark string, lines []string) []string {
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = mark + line
	}
	return all
}
