package hunt

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// A Roll says which groups are rolled, and how, as nodesim plan has it.
type Roll struct {
	Groups []string // none: those of the file's roll, or else all
	// Settings are those of the roll that all cases have, by their keys in a scenario file.
	Settings []spec.Setting
}

// of returns the file with its roll. A file in which nothing goes on by itself, as a cluster that was read, has all of its groups rolled:
// a search through it would find nothing, whatever its policies say. Errors are of type *[plan.OptionError].
func (r *Roll) of(f *scenarios.File) (*scenarios.File, error) {
	if len(r.Groups)+len(r.Settings) == 0 && !idle(&f.File) {
		return f, nil
	}
	return plan.Prepare(f, plan.Options{Groups: r.Groups, Roll: r.Settings})
}

// idle reports whether there are nodes, and nothing happens to them: no roll, no autoscaler, no fault, no workload that is created later.
func idle(f *spec.File) bool {
	return f.Roll == nil && f.Autoscaler == nil && f.Nodes() > 0 &&
		!slices.ContainsFunc(f.Faults, func(one spec.Fault) bool { return one.Mark == nil }) &&
		!slices.ContainsFunc(f.Workloads, func(w spec.Workload) bool { return w.CreateAt > 0 })
}

// Cluster makes a scenario of a cluster that was read, with its roll: one that a Job's pods can read as well.
func Cluster(f *scenarios.File, r Roll) (scenarios.Scenario, error) {
	rolled, err := r.of(f)
	if err != nil {
		return scenarios.Scenario{}, err
	}
	text, err := hunt.Text(&rolled.File)
	if err != nil {
		return scenarios.Scenario{}, err
	}
	doc, err := scenarios.Parse(f.Metadata.Name, text)
	if err != nil {
		return scenarios.Scenario{}, err
	}
	return scenarios.Scenario{Name: doc.Metadata.Name, About: doc.Metadata.Title, Document: doc}, nil
}

// args are the flags that give a roll again.
func (r *Roll) args() (all []string) {
	for _, name := range r.Groups {
		all = append(all, "--nodegroup", name)
	}
	for _, s := range r.Settings {
		if s.Name == "strategy" {
			all = append(all, "--strategy", s.Value)
		} else {
			all = append(all, "--roll", s.Name+"="+s.Value)
		}
	}
	return all
}
