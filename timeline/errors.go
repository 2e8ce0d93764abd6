package timeline

import "fmt"

// Error says where a tape is bad: the place, what was found there, what was
// wanted, and where there is one, the remedy. It reads as one line.
type Error struct {
	Name   string // the file, or what stands for it
	Line   int    // counted from 1; 0 where the tape as a whole is meant
	Found  string
	Wanted string
	Remedy string
}

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
	return s
}

// fault is an Error before it has got its place.
func fault(wanted, format string, args ...any) *Error {
	return &Error{Found: fmt.Sprintf(format, args...), Wanted: wanted}
}
