package timeline

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
)

// ErrTornHeader is what the [Error] of a file wraps that ends within its header, as one does whose writer was killed at once.
var ErrTornHeader = errors.New("the end of the file within the header")

// Error says where a tape is bad: the place, what was found there, what was
// wanted, and where there is one, the remedy. It reads as one line.
type Error struct {
	Name   string // the file, or what represents it
	Line   int    // counted from 1; 0 where the tape as a whole is meant
	Found  string
	Wanted string
	Remedy string

	cause error // of reading the file, where that is what went wrong, or ErrTornHeader
}

// Unwrap returns the error of the file or its decompression, if it is that
// which went wrong, [ErrTornHeader], or nil.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) Error() string {
	s := ""
	if e.Name != "" {
		s = "timeline " + e.Name + ": "
	}
	if e.Line > 0 {
		s += fmt.Sprintf("line %d: ", e.Line)
	}
	s += e.Found
	if e.Wanted != "" {
		s += ": want " + e.Wanted
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return phrase.Escaped(s)
}

// yamlError returns what yaml.v3 has found. It says the line at the start of its
// message, or of the first of several.
func yamlError(wanted string, err error) *Error {
	found := strings.Join(strings.Fields(err.Error()), " ")
	for _, prefix := range []string{"yaml: ", "unmarshal errors: "} {
		found = strings.TrimPrefix(found, prefix)
	}
	e := fault(wanted, "%s", found)
	if rest, ok := strings.CutPrefix(found, "line "); ok {
		if number, message, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil && n > 0 {
				e.Line, e.Found = n, message
			}
		}
	}
	if found, wanted, ok := strings.Cut(e.Found, ": want "); ok {
		e.Found, e.Wanted = found, wanted
	}
	return e
}

// fault is an Error before it has got its place.
func fault(wanted, format string, args ...any) *Error {
	return &Error{Found: fmt.Sprintf(format, args...), Wanted: wanted}
}
