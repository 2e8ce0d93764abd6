package lint

import "fmt"

// A Finding is one violation.
type Finding struct {
	File string // relative to the folder that was checked, with slashes
	Line int    // from 1
	Text string // what was found and what is wanted
}

// String is the form that editors and compilers use.
func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text) }
