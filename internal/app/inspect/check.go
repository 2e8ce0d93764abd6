package inspect

import (
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/timeline"
)

// Checker checks the events of a tape against invariant.All.
type Checker struct {
	checker *invariant.Checker
	header  *timeline.Header
	keys    map[string]key
	decoder decoder
}

// key holds what a word for a resource means.
type key struct {
	resource string // as noderoll knows it
	kind     kind
}

// CheckOptions returns how exact the tape of a header can be: a simulation has
// one clock and one order, everything else came by several watches.
func CheckOptions(h *timeline.Header) invariant.CheckOptions {
	start := h.Metadata.Start.Time
	if h.Source.Kind == timeline.SourceScenario {
		return invariant.CheckSimulated(start)
	}
	o := invariant.CheckRecorded(start)
	o.Partial = h.Scope.Partial()
	return o
}

// NewChecker returns a Checker for a tape with this header.
func NewChecker(h *timeline.Header, o invariant.CheckOptions) *Checker {
	return &Checker{checker: invariant.NewChecker(o), header: h, keys: map[string]key{}}
}

// Observe takes the tape's next event, with its object, from this line. The
// slice is valid until the next call.
func (c *Checker) Observe(ev timeline.Event, line int) []invariant.Violation {
	if ev.Resource == "" {
		return nil
	}
	k := c.key(ev.Resource)
	change := invariant.Change{
		At: ev.At, Line: line, Type: invariant.ChangeType(ev.Type), Resource: k.resource, Version: ev.RV,
	}
	if ev.Type.Object() {
		change.Object = c.decoder.object(k.kind, &ev)
	}
	return c.checker.Observe(change)
}

// End returns what can be said only at the end of the tape.
func (c *Checker) End() []invariant.Violation { return c.checker.End() }

func (c *Checker) key(word string) key {
	if k, known := c.keys[word]; known {
		return k
	}
	k := key{resource: "other/" + word}
	if res, ok := c.header.Lookup(word); ok {
		switch {
		case res.Group == "" && res.Resource == noderoll.Nodes:
			k = key{noderoll.Nodes, kindNode}
		case res.Group == "" && res.Resource == noderoll.Pods:
			k = key{noderoll.Pods, kindPod}
		case res.Group == "policy" && res.Version == "v1" && res.Resource == noderoll.Budgets:
			k = key{noderoll.Budgets, kindBudget}
		case res.Group == "" && res.Resource == noderoll.Events:
			k = key{noderoll.Events, kindEvent}
		}
	}
	if len(c.keys) < mostKeys {
		c.keys[word] = k
	}
	return k
}

// mostViolations bounds how many a Report holds; the rest is counted.
const mostViolations = 1000

func (rep *Report) violated(found []invariant.Violation) {
	room := min(mostViolations-len(rep.Violations), len(found))
	rep.Violations = append(rep.Violations, found[:room]...)
	rep.MoreViolations += len(found) - room
}
