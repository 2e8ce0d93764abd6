package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// DefaultRuns is the number of runs where Options name none.
const DefaultRuns = 200

// MaxRuns bounds the runs of a plan, and of a comparison all together.
const MaxRuns = 100_000

// Options choose the roll, and how often it is simulated.
type Options struct {
	// Groups that are rolled; none: those of the file's roll, or else all.
	Groups []string
	// Roll has settings of the roll by their keys in a scenario file: strategy, maxUnavailable, force and so on. What it doesn't have
	// is the file's, or the provider's default.
	Roll []spec.Setting
	// ToVersion is the version of the kubelet that the nodes get, such as 1.35, ToImage their image. Both "": what the file says.
	ToVersion, ToImage string
	// WhatIf are changes of the file before it begins.
	WhatIf []spec.Change
	// TimeLimit is how long a run may take; 0: the file's.
	TimeLimit time.Duration

	// Runs is how often the roll is simulated, DefaultRuns for 0, with the seeds from Seed on; nil: from the file's on.
	Runs int
	Seed *uint64
	// Parallel is how many runs there are at a time; 0 is one.
	Parallel int
	// Policies are held against each run.
	Policies []*policy.Policy
	// Progress is called after each run, by one goroutine at a time.
	Progress func(done, of int)
}

// An OptionError says what is wrong with options, or with the file for what they ask for.
type OptionError struct{ err error }

func (e *OptionError) Error() string { return e.err.Error() }

// Unwrap returns the error of package spec, where it is one.
func (e *OptionError) Unwrap() error { return e.err }

// errNothing is the error of a file in which no group can be rolled.
var errNothing = errors.New("found no node in the groups to roll: want a group with nodes")

// Prepare returns the file with the roll and the changes that the options ask for. The receiver stays as it is. Errors are of type
// *[OptionError].
func Prepare(f *scenarios.File, o Options) (*scenarios.File, error) {
	file, err := prepare(f, o)
	if err == nil && (o.Runs < 0 || o.Runs > MaxRuns) {
		err = fmt.Errorf("plan: %d runs: want 1 to %d", o.Runs, MaxRuns)
	}
	if err != nil {
		return nil, &OptionError{err}
	}
	return file, nil
}

func prepare(f *scenarios.File, o Options) (*scenarios.File, error) {
	s := f.File
	if o.TimeLimit > 0 {
		s.TimeLimit = o.TimeLimit
	}
	if o.Seed != nil {
		s.Seed = *o.Seed
	}
	// Karpenter says in Events alone why it leaves a node as it is.
	s.Cluster.Events = s.Cluster.Events || s.Cluster.Provider == spec.ProviderKarpenter
	changed := &s
	rolled := o.Groups
	if len(rolled) == 0 && s.Roll != nil {
		rolled = s.Roll.Groups
	}
	if len(rolled) == 0 {
		for i := range s.Groups {
			if s.Groups[i].Nodes > 0 {
				rolled = append(rolled, s.Groups[i].Name)
			}
		}
	}
	if err := known(&s, rolled); err != nil {
		return nil, err
	}
	if err := useful(&s, rolled, o.WhatIf); err != nil {
		return nil, err
	}
	var changes []spec.Change
	for _, name := range rolled {
		if o.ToVersion != "" {
			changes = append(changes, spec.Change{Object: "group/" + name, Key: "version", Value: o.ToVersion})
		}
		if o.ToImage != "" {
			changes = append(changes, spec.Change{Object: "group/" + name, Key: "image", Value: o.ToImage})
		}
	}
	changed, err := changed.With(append(changes, o.WhatIf...)...)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if changed, err = changed.Rolled(rolled, o.Roll); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &scenarios.File{File: *changed}, nil
}

// useful refuses changes of groups that no run would show.
func useful(f *spec.File, rolled []string, changes []spec.Change) error {
	for _, c := range changes {
		name, is := strings.CutPrefix(c.Object, "group/")
		switch {
		case !is || !slices.ContainsFunc(f.Groups, func(g spec.Group) bool { return g.Name == name }):
		case c.Key == "max" && (f.Autoscaler == nil || !slices.Contains(f.Autoscaler.Groups, name)):
			return fmt.Errorf("plan: %s: nothing scales that group: want an autoscaler in the file", c)
		case c.Key != "max" && !slices.Contains(rolled, name):
			return fmt.Errorf("plan: %s: that group isn't rolled: want one of %s", c, strings.Join(rolled, ", "))
		}
	}
	return nil
}

// known refuses groups that the file hasn't, and those without nodes.
func known(f *spec.File, groups []string) error {
	var names []string
	for i := range f.Groups {
		names = append(names, f.Groups[i].Name)
	}
	nodes := 0
	for _, name := range groups {
		i := slices.Index(names, name)
		if i < 0 {
			return unknownGroup(name, names)
		}
		nodes += f.Groups[i].Nodes
	}
	if nodes == 0 {
		return errNothing
	}
	return nil
}

func unknownGroup(name string, names []string) error {
	if near := phrase.Closest(name, names); near != "" {
		return fmt.Errorf("node group %.80q: there is none of that name: did you mean %s?", name, near)
	}
	known := strings.Join(names[:min(len(names), 20)], ", ")
	return fmt.Errorf("node group %.80q: found %s: want one of these", name, known)
}
