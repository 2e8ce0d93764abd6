package phrase

import (
	"strconv"
	"strings"
)

// Place says where a file is bad: the place, what was found there, what is wanted, and the remedy where there is one. Errors
// of files that people write have these fields, and convert to it.
type Place struct {
	File   string
	Line   int // counted from 1; 0 for none
	Path   string
	Found  string
	Wanted string
	Remedy string
}

// String is the place in one line: "surge.yaml:12: groups[0].nodes: found: want wanted; remedy".
func (p Place) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		b.WriteString(":" + strconv.Itoa(p.Line))
	}
	b.WriteString(": ")
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Found)
	if p.Wanted != "" {
		b.WriteString(": want " + p.Wanted)
	}
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return Escaped(b.String())
}

// BadYAML is the place of an error of yaml.v3, which says the line at the start of its message.
func BadYAML(file string, err error) Place {
	found := strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "yaml: ")
	p := Place{File: file, Line: 1, Found: found, Wanted: "YAML"}
	if rest, ok := strings.CutPrefix(found, "line "); ok {
		if number, message, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil && n > 0 {
				p.Line, p.Found = n, message
			}
		}
	}
	return p
}
