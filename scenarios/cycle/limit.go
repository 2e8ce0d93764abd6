package cycle

import "strconv"

// Limit is an optional upper bound. The zero Limit doesn't bound; AtMost(0) allows nothing. Limits compare with ==.
type Limit struct {
	n   int
	set bool
}

// AtMost is the limit n. A negative one is refused by Plan.
func AtMost(n int) Limit { return Limit{n, true} }

// Get returns the bound, and whether there is one.
func (l Limit) Get() (n int, ok bool) { return l.n, l.set }

// String is the bound in digits, or "unlimited".
func (l Limit) String() string {
	if !l.set {
		return "unlimited"
	}
	return strconv.Itoa(l.n)
}
