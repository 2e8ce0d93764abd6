package invariant

import (
	"fmt"
	"github.com/nodesim/nodesim/noderoll"
	"slices"
	"strconv"
	"time"
)

// An Invariant is a sentence that every tape of a real cluster obeys, and every
// simulated one has to. A Checker checks a tape against all of them.
type Invariant struct {
	// Name is a word in kebab case by which programs know it.
	Name string
	// Sentence says what holds, for people.
	Sentence string
	// Theme holds what it is about: "objects", "nodes", and so on. The policy of a
	// roll is checked only where [CheckOptions] has limits.
	Theme string
	// Source is where Kubernetes, or the other actor that it is about, says or does so.
	Source string
}

// All returns the invariants that a Checker checks, by theme.
func All() []Invariant {
	var all []Invariant
	for _, theme := range invariantThemes {
		for _, i := range theme.invariants {
			i := *i
			i.Theme = theme.name
			all = append(all, i)
		}
	}
	return slices.Clip(all)
}

var invariantThemes = []struct {
	name       string
	invariants []*Invariant
}{
	{"objects", objectInvariants},
	{"nodes", nodeInvariants},
	{"taints", taintInvariants},
	{"pods", podInvariants},
	{"containers", containerInvariants},
	{"changes in place", inPlaceInvariants},
	{"binding", bindingInvariants},
	{"deletion", deletionInvariants},
	{"orphans", orphanInvariants},
	{"budgets", budgetInvariants},
	{"evictions", evictionInvariants},
	{"events", eventInvariants},
	{"events about nodes", nodeEventInvariants},
	{"policy of a roll", rollInvariants},
}

// Violation is one place where a tape breaks an invariant. Its strings hold
// names as they are on the tape; String makes them safe to print.
type Violation struct {
	Invariant string        `json:"invariant"`
	At        time.Duration `json:"-"`
	// Line of the tape; 0 where the source of the changes has no lines.
	Line int `json:"line,omitempty"`
	// Object is the kind, namespace and name, such as "Pod/shop/web-1".
	Object string `json:"object"`
	Found  string `json:"found"`
	Wanted string `json:"wanted"`
}

// String is the violation on one line: place, object, found, wanted.
func (v Violation) String() string {
	var b []byte
	if v.Line > 0 {
		b = strconv.AppendInt(append(b, "line "...), int64(v.Line), 10)
		b = append(b, ": "...)
	}
	b = noderoll.AppendStamp(b, v.At)
	return string(fmt.Appendf(b, ": %s: %s: found %s: want %s", noderoll.OneLine(v.Object), v.Invariant, noderoll.OneLine(v.Found), noderoll.OneLine(v.Wanted)))
}
