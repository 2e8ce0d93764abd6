// Package option is the one type of option that a Player and all adapters take.
// An option says what it sets up; each constructor applies its own, hands the
// others down, and the last one refuses what none took, so that none is
// dropped silently.
package option

import "fmt"

// Option sets a Player or an adapter up.
type Option struct {
	name string
	set  any // a func(*T)
}

// New makes an option for a T. The name is that of the function which a user
// has called, with its package: "fakeclient.WithWrites".
func New[T any](name string, set func(*T)) Option { return Option{name, set} }

// Apply applies the options that are for a T, in their order, and returns the
// others.
func Apply[T any](to *T, opts []Option) (rest []Option) {
	for _, o := range opts {
		if set, ok := o.set.(func(*T)); ok {
			set(to)
		} else {
			rest = append(rest, o)
		}
	}
	return rest
}

// Only returns the options that are for a T.
func Only[T any](opts []Option) (own []Option) {
	for _, o := range opts {
		if _, ok := o.set.(func(*T)); ok {
			own = append(own, o)
		}
	}
	return own
}

// Refuse is the error of options that are left over at the function of the given
// name, or nil if there are none.
func Refuse(where string, rest []Option, want string) error {
	if len(rest) == 0 {
		return nil
	}
	if rest[0].name == "" {
		return fmt.Errorf("%s: found an empty option: want %s", where, want)
	}
	return fmt.Errorf("%s: found the option %s: want %s", where, rest[0].name, want)
}
