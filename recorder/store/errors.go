package store

import "fmt"

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
	return fmt.Sprintf("store %s: %s%s: %v", e.Store, e.Key, descriptionEnding, e.Err)
}

// Unwrap returns why it couldn't be read.
func (e *SkippedError) Unwrap() error { return e.Err }
