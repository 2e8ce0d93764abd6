package spec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
)

// Rolled returns the file with a roll of groups: its own, with other keys, or one that it gets. No groups are those of the
// file's roll, and all where it has none. Settings are keys of the roll: strategy, maxUnavailable, maxSurge, force and so on. With
// another strategy than the file's roll has, what isn't set has the defaults of that strategy's provider; without a strategy it is
// the provider's own. The receiver stays as it is. Errors are of type *[Error].
func (f *File) Rolled(groups []string, settings []Setting) (*File, error) {
	out := *f
	c := &checker{file: "roll", lines: map[string]int{}, f: &out}
	d := newDecoder("roll")
	d.lines = c.lines
	r, bad := f.rollBy(d, c, settings)
	if bad != nil {
		return nil, unplaced(bad)
	}
	out.Roll = r
	if w := r.way(); w != nil && w.inPlace {
		return nil, &Error{File: "roll", Path: "strategy", Found: fmt.Sprintf("%q, which replaces no node", r.Strategy), Wanted: list(Strategies(f.Cluster.Provider))}
	}
	if len(groups) > 0 {
		r.Groups = slices.Clone(groups)
	}
	for _, s := range settings {
		if s.Name == "strategy" {
			continue
		}
		if !slices.Contains(RollKeys(), s.Name) {
			e := &Error{File: "roll", Path: s.Name, Found: "no such key of a roll", Wanted: list(RollKeys())}
			if e.Remedy = didYouMean(phrase.Closest(s.Name, RollKeys())); e.Remedy != "" {
				e.Wanted = ""
			}
			return nil, e
		}
		if bad := d.setText(reflect.ValueOf(r).Elem(), "roll", s.Name, s.Value); bad != nil {
			return nil, unplaced(bad)
		}
	}
	if bad := c.sound(); bad != nil {
		return nil, unplaced(bad)
	}
	return &out, nil
}

// rollBy is a copy of the file's roll, or another one where that has another strategy.
func (f *File) rollBy(d *decoder, c *checker, settings []Setting) (*Roll, *Error) {
	strategy := usualStrategy(f.Cluster.Provider)
	if f.Roll != nil {
		strategy = f.Roll.Strategy
	}
	for _, s := range settings {
		if s.Name == "strategy" {
			if bad := d.decode(&node{line: 1, text: s.Value}, reflect.ValueOf(&strategy).Elem(), "roll.strategy", rules{}); bad != nil {
				return nil, bad
			}
		}
	}
	if f.Roll != nil && f.Roll.Strategy == strategy {
		r := *f.Roll
		return &r, nil
	}
	r := &Roll{}
	root := &node{line: 1, kind: isMapping}
	root.set("strategy", &node{line: 1, text: string(strategy)})
	if bad := d.mapping(root, reflect.ValueOf(r).Elem(), "roll"); bad != nil {
		return nil, bad
	}
	c.fillRoll(r)
	if was := f.Roll; was != nil && was.Workload == "" {
		r.Groups, r.Parallel, r.At, r.OnFailure = slices.Clone(was.Groups), was.Parallel, was.At, was.OnFailure
	}
	return r, nil
}

// unplaced is an error about values that are no lines of a file.
func unplaced(e *Error) *Error {
	e.Line, e.Path = 0, strings.TrimPrefix(e.Path, "roll.")
	return e
}

// RollKeys are the keys of a roll of nodes that say how it is done.
func RollKeys() []string {
	return []string{
		"strategy", "maxUnavailable", "maxSurge", "budget", "force", "evictionTimeout", "joinTimeout", "settleAfterDrain", "soak", "parallel", "onFailure",
	}
}

// RollSettings are the settings that a roll has, in the order of RollKeys, without what its strategy hasn't.
func (r *Roll) RollSettings() (all []Setting) {
	all = append(all, Setting{"strategy", string(r.Strategy)})
	w := r.way()
	if w == nil {
		return all
	}
	for _, v := range r.numbers(w) {
		if v.usual != nil {
			all = append(all, Setting{v.key, v.value.String()})
		}
	}
	if w.force {
		all = append(all, Setting{"force", fmt.Sprint(r.Force)})
	}
	for _, v := range r.durations(w) {
		if v.usual != nil {
			all = append(all, Setting{v.key, short(*v.value)})
		}
	}
	if r.Parallel && len(r.Groups) > 1 {
		all = append(all, Setting{"parallel", "true"})
	}
	return all
}

// usualStrategy is how a provider rolls its groups by default.
func usualStrategy(p Provider) Strategy {
	for _, w := range ways() {
		if slices.Contains(w.providers, p) {
			return w.strategy
		}
	}
	return StrategyPlain
}
