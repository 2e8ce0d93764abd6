package storetest

import (
	"errors"
	"fmt"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/timeline"
)

// mostShown bounds the violations of invariants that a failure shows; the others are counted.
const mostShown = 20

// check holds a tape in a file against its description, against the invariants, and against policies.
func (t *Tape) check(of *store.Tape, file string, policies []*policy.Policy) {
	fail := func(err error) { t.Failures = append(t.Failures, tapes.Line(err, file)) }
	rep, err := inspected(file)
	if err != nil {
		fail(err)
		return
	}
	if !rep.Complete {
		lacks := rep.Torn
		if lacks == "" {
			lacks = "it ends without END, so its recorder was cut off"
		}
		fail(fmt.Errorf("not complete: %s", lacks))
	}
	if rep.Events != of.Events || len(rep.Gaps) != of.Gaps {
		fail(fmt.Errorf("found %d events and %d gaps: want those of its description, %d and %d", rep.Events, len(rep.Gaps), of.Events, of.Gaps))
	}
	if n := len(rep.Violations) + rep.MoreViolations; n > 0 {
		text := fmt.Sprintf("found %d violations of invariants: want none; docs/invariants.md explains each", n)
		for _, v := range rep.Violations[:min(len(rep.Violations), mostShown)] {
			text += "\n  " + v.String()
		}
		if n > mostShown {
			text += fmt.Sprintf("\n  and %d more", n-mostShown)
		}
		t.Failures = append(t.Failures, text)
	}
	if rep.Unmatched != nil {
		fail(rep.Unmatched)
		return // there is nothing that a policy could be about
	}
	if len(policies) > 0 {
		if t.Policies, _, err = analyse.Check(ui.File(file, nil), analyse.Pods{}, policies); err != nil {
			fail(err)
		}
	}
}

// inspected reads a tape, and holds it against the invariants.
func inspected(file string) (rep *inspect.Report, err error) {
	r, err := timeline.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return inspect.Check(r, inspect.CheckOptions(r.Header()))
}
