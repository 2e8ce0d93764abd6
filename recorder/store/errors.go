package store

import (
	"fmt"
	"strings"
)

// DamagedError says that what a store has isn't the tape or the description that it should be. It is so again when it is read
// again; any other error of a read may be one of the way there.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string { return e.Err.Error() }

// Unwrap returns what was found.
func (e *DamagedError) Unwrap() error { return e.Err }

// SkippedError says why a list has left a tape out: its description couldn't be read, or, where Err is a [DamagedError], is none.
type SkippedError struct {
	// Store is the address of the store, Key that of the tape there, as the bucket has it: anything may be in it.
	Store, Key string
	Err        error
}

func (e *SkippedError) Error() string {
	return fmt.Sprintf("store %s: %s%s: %v", e.Store, e.Key, descriptionEnding, lineError{e.Err})
}

// Unwrap returns why it couldn't be read.
func (e *SkippedError) Unwrap() error { return e.Err }

// lineError is the error of a bucket on one line: that of Azure's library has many, with rules of dashes between them.
type lineError struct{ err error }

func (e lineError) Error() string {
	text := e.err.Error()
	if !strings.Contains(text, "\n") {
		return text
	}
	var parts []string
	for part := range strings.Lines(text) {
		if part = strings.TrimSpace(part); strings.Trim(part, "-") != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

func (e lineError) Unwrap() error { return e.err }
