package faultspec

import "time"

// Spec is one fault that is asked for. The zero value of a field means what
// wasn't given. Specs are compared with ==.
type Spec struct {
	Kind     string // a Name of [Kinds]
	Resource string // as it was written: plural, singular, short name, kind or plural.group; "" for any

	// What it hits: globs of names (path.Match), a label selector, and the types
	// of events or the verbs of requests, joined by "+".
	Namespace, Name, Selector, Types, Verbs string

	// When it fires.
	Timed bool          // At was given
	At    time.Duration // position on the tape
	For   time.Duration
	Event int     // the nth that matches
	P     float64 // probability, above 0 and at most 1
	Seed  uint64
	When  When
	Count int

	// What it does.
	By, Within, Every, RetryAfter time.Duration
	Times                         int
	Lose, In                      string
	Initial                       bool
}

// When is a state that a fault waits for.
type When struct {
	// Of holds what comes into the state: "node", "mark", or "roll".
	Of string
	// Name is a glob of the node's or the mark's name.
	Name string
	// State is a kind of the feed's entries, such as "draining".
	State string
}

// String returns the form that Parse reads: node:ip-10-0-1-10:draining,
// mark:surge-*, complete or failed.
func (w When) String() string {
	switch w.Of {
	case "":
		return ""
	case "node":
		return "node:" + w.Name + ":" + w.State
	case "mark":
		return "mark:" + w.Name
	}
	return w.State
}

// Or returns s with what it leaves open of the parameters that say what a fault
// does taken from its kind's defaults.
func (s Spec) Or(d Spec) Spec {
	or := func(a *time.Duration, b time.Duration) {
		if *a == 0 {
			*a = b
		}
	}
	or(&s.For, d.For)
	or(&s.By, d.By)
	or(&s.Within, d.Within)
	or(&s.Every, d.Every)
	or(&s.RetryAfter, d.RetryAfter)
	if s.Times == 0 {
		s.Times = d.Times
	}
	if s.In == "" {
		s.In = d.In
	}
	if s.Verbs == "" {
		s.Verbs = d.Verbs
	}
	return s
}
