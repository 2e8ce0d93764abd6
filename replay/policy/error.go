package policy

import (
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
)

// An Error says where a policy is bad: the place, what was found there, what is wanted, and the remedy where there is one. It
// reads as one line:
//
//	slow.yaml:9: rules[0].expression: undefined field 'dran': did you mean drain?
type Error struct {
	File   string
	Line   int    // counted from 1; 0 where the file as a whole is bad
	Path   string // of the key: rules[0].over
	Found  string
	Wanted string
	Remedy string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteString(":" + strconv.Itoa(e.Line))
	}
	b.WriteString(": ")
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	b.WriteString(e.Found)
	if e.Wanted != "" {
		b.WriteString(": want " + e.Wanted)
	}
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return phrase.Escaped(b.String())
}

// didYouMean is the remedy that names a near word, or "".
func didYouMean(word string, words []string) string {
	if near := phrase.Closest(word, words); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}
