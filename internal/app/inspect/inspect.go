package inspect

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/replay/analysis/rolls"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// Tape reads a tape to its end. The Reader should have been opened with
// timeline.Lines: whole objects are read as well, but slower. The error is the
// Reader's, and then the Report holds what is before the bad place.
func Tape(r *timeline.Reader) (*Report, error) {
	return read(r, nil)
}

// Check is [Tape], and checks the tape against the invariants as well. The
// Reader must hand out whole objects.
func Check(r *timeline.Reader, o invariant.CheckOptions) (*Report, error) {
	return read(r, NewChecker(r.Header(), o))
}

func read(r *timeline.Reader, check *Checker) (*Report, error) {
	h := r.Header()
	rep := &Report{Header: h, Resources: map[string]map[timeline.Type]int{}, Checked: check != nil}
	for _, res := range h.Resources {
		rep.Resources[h.Key(res)] = map[timeline.Type]int{}
	}
	o, err := observe.OptionsFor(h, "", "", "")
	if err != nil {
		return rep, err
	}
	finder := rolls.New(h, o)
	finder.CheckPatches()
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			rep.Complete, rep.Torn = r.Complete(), r.Torn()
			break
		}
		if err == nil {
			rep.count(&ev)
			if check != nil {
				rep.violated(check.Observe(ev, r.Line()))
			}
			err = finder.Apply(ev, r.Line())
		}
		if err != nil {
			rep.Rolls, rep.Unmatched = finder.Found(), finder.Unmatched()
			return rep, err
		}
	}
	if check != nil {
		rep.violated(check.End())
		slices.SortStableFunc(rep.Violations, func(a, b invariant.Violation) int {
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Line, b.Line))
		})
	}
	rep.Rolls, rep.Unmatched = finder.Found(), finder.Unmatched()
	return rep, nil
}

func (rep *Report) count(ev *timeline.Event) {
	rep.Events++
	rep.Duration = ev.At
	switch ev.Type {
	case timeline.Gap:
		rep.Gaps = append(rep.Gaps, Gap{ev.At, ev.Resource, ev.Reason})
	case timeline.Mark:
		rep.Marks = append(rep.Marks, Mark{ev.At, ev.Name, ev.Reason})
	}
	if ev.Resource == "" {
		return
	}
	key, typ := ev.Resource, ev.Type
	types := rep.Resources[key]
	if types == nil {
		if len(rep.Resources) >= mostKeys {
			key = others
		}
		if types = rep.Resources[key]; types == nil {
			types = map[timeline.Type]int{}
			rep.Resources[key] = types
		}
	}
	if _, known := types[typ]; !known && len(types) >= mostTypes {
		typ = others
	}
	types[typ]++
}

// A tape may name any resource and any type. What comes above these bounds is
// counted together: a report is for people.
const (
	mostKeys  = 200
	mostTypes = 12
	others    = "(others)"
)
