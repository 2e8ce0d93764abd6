package controller

import (
	"errors"
	"fmt"
)

// NotFoundf is an error that says that what was asked for doesn't exist: [IsNotFound] finds it. %w wraps.
func NotFoundf(format string, args ...any) error {
	return notFoundError{fmt.Errorf(format, args...)}
}

// InvalidInputf is an error that says that the caller's arguments are wrong: [IsInvalidInput] finds it. %w wraps.
func InvalidInputf(format string, args ...any) error {
	return invalidInputError{fmt.Errorf(format, args...)}
}

// AsNotFound gives err the type of [NotFoundf] and leaves its text; nil stays nil.
func AsNotFound(err error) error {
	if err == nil {
		return nil
	}
	return notFoundError{err}
}

// AsInvalidInput gives err the type of [InvalidInputf] and leaves its text; nil stays nil.
func AsInvalidInput(err error) error {
	if err == nil {
		return nil
	}
	return invalidInputError{err}
}

// IsNotFound says whether err, or an error that it wraps, has a method NotFound() bool that returns true. Wrapped
// errors are found through Unwrap, also where it returns several, and through Cause, the older convention.
func IsNotFound(err error) bool {
	return holds(err, func(e error) bool {
		typed, ok := e.(interface{ NotFound() bool })
		return ok && typed.NotFound()
	})
}

// IsInvalidInput says whether err, or an error that it wraps, has a method InvalidInput() bool that returns true; see
// [IsNotFound] for how wrapped errors are found.
func IsInvalidInput(err error) bool {
	return holds(err, func(e error) bool {
		typed, ok := e.(interface{ InvalidInput() bool })
		return ok && typed.InvalidInput()
	})
}

type notFoundError struct{ error }

func (notFoundError) NotFound() bool  { return true }
func (e notFoundError) Unwrap() error { return e.error }

type invalidInputError struct{ error }

func (invalidInputError) InvalidInput() bool { return true }
func (e invalidInputError) Unwrap() error    { return e.error }

// maxWraps bounds the walk through wrapped errors, since a Cause may lead in a circle.
const maxWraps = 100

// holds says whether is holds for err or for anything that it wraps.
func holds(err error, is func(error) bool) bool {
	left := maxWraps
	var walk func(error) bool
	walk = func(err error) bool {
		for ; err != nil && left > 0; left-- {
			if is(err) {
				return true
			}
			switch typed := err.(type) { //nolint:errorlint // this is the walk itself
			case interface{ Unwrap() []error }:
				for _, each := range typed.Unwrap() {
					if walk(each) {
						return true
					}
				}
				return false
			case interface{ Cause() error }:
				if next := errors.Unwrap(err); next != nil && walk(next) {
					return true
				}
				err = typed.Cause()
			default:
				err = errors.Unwrap(err)
			}
		}
		return false
	}
	return walk(err)
}
