package cycle

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Decision is Plan's result for one description of a cluster. Equal input gives an equal Decision, byte for byte, in
// whatever order the instances are listed.
type Decision struct {
	Progress Progress
	// Steps are the steps to take now, in the order in which to do it: start, await starts, drain, terminate, await
	// drains, await terminations; at most one step of each.
	Steps []Step `json:",omitempty"`
	// Blockers are why more is not done: instances by id, then what holds all of them back. Waiting for a state is no
	// blocker, it is a step.
	Blockers []Blocker `json:",omitempty"`
	// Failures are the instances of the cluster's config that failed, those of Options.Failures too, by id. Hand them
	// back in the next Options.
	Failures []InstanceID `json:",omitempty"`
	// Again is the earliest moment at which a timeout alone changes the decision; zero if none is running. A caller whose
	// environment blocks in WaitInstances bounds its context with it.
	Again  time.Time `json:",omitzero"`
	Census Census
}

// Progress says how a roll stands.
type Progress string

const (
	// Finished means that every listed instance is of the cluster's config and serves, and they are as many as wanted.
	Finished Progress = "finished"
	// Working means that there are steps to do, or a timeout is running.
	Working Progress = "working"
	// Stuck means that there is nothing to do until the environment changes what Blockers lists.
	Stuck Progress = "stuck"
	// Paused says that Mode or the failures pause the roll. Steps, if any, only end what had begun.
	Paused Progress = "paused"
	// Aborted says that Mode aborts the roll. Steps, if any, take back what is too much.
	Aborted Progress = "aborted"
)

// Blocker is one reason why more is not done.
type Blocker struct {
	Reason Reason
	ID     InstanceID `json:",omitempty"` // empty where the reason isn't one of a single instance
	Count  int        // instances held back by it
	Detail string     `json:",omitempty"` // for people
}

// String is the blocker in one line.
func (b Blocker) String() string {
	var parts []string
	if b.ID != "" {
		parts = append(parts, string(b.ID))
	}
	parts = append(parts, string(b.Reason))
	if b.ID == "" && b.Count > 0 {
		parts = append(parts, "holds back "+itoa(b.Count))
	}
	text := strings.Join(parts, " ")
	if b.Detail != "" {
		text += ": " + b.Detail
	}
	return text
}

// Census counts the instances of a description. Those in the state Terminated are in none of the numbers.
type Census struct {
	Listed      int
	Outdated    int // of another config than the cluster's, whatever their state
	Serving     int // Started and ready, whatever their config
	Starting    int
	NotReady    int // Started, but not ready
	Draining    int
	Drained     int
	Terminating int
	Failed      int // Unhealthy, or not serving in time
	Unknown     int
	// Wanted is the number of missing instances that serve, or may come to it, in the cluster's config (under Abort:
	// in any); negative where there are too many.
	Wanted  int
	Floor   int // fewest that may serve
	Ceiling int // most that may be listed; -1 is no limit
}

// Tasks are the steps as tasks, for Run.
func (d Decision) Tasks() []Task {
	tasks := make([]Task, len(d.Steps))
	for i, s := range d.Steps {
		tasks[i] = s
	}
	return tasks
}

// Step finds the step of a kind, and for Wait of an awaited state; elsewhere await is empty.
func (d Decision) Step(kind Kind, await InstanceState) (Step, bool) {
	i := slices.IndexFunc(d.Steps, func(s Step) bool { return s.Kind == kind && s.Await == await })
	if i < 0 {
		return Step{}, false
	}
	return d.Steps[i], true
}

// Equal says whether both decisions are the same.
func (d Decision) Equal(other Decision) bool {
	return d.Progress == other.Progress && slices.EqualFunc(d.Steps, other.Steps, Step.Equal) &&
		slices.Equal(d.Blockers, other.Blockers) && slices.Equal(d.Failures, other.Failures) &&
		d.Again.Equal(other.Again) && d.Census == other.Census
}

// String is the decision for people: one line of numbers, then one for each step and blocker.
func (d Decision) String() string {
	var b strings.Builder
	c := d.Census
	fmt.Fprintf(&b, "%s: %d listed, %d serving, %d outdated", d.Progress, c.Listed, c.Serving, c.Outdated)
	for _, s := range d.Steps {
		fmt.Fprintf(&b, "\n  %s", s)
	}
	for _, blocker := range d.Blockers {
		fmt.Fprintf(&b, "\n  held: %s", blocker)
	}
	return b.String()
}
