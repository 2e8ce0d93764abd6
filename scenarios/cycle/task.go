package cycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Task is one thing to do to an environment. The tasks of this package are Steps.
type Task interface {
	Run(ctx context.Context, env Environment) error
}

// Kind is the action of a Step.
type Kind string

// What a Step can do.
const (
	Start     Kind = "start"     // order Count more instances
	Wait      Kind = "wait"      // until the targets are in the state Await
	Drain     Kind = "drain"     // let the targets give up their work
	Terminate Kind = "terminate" // remove the targets
)

// Target is an instance that a Step touches, and why. Targets compare with ==.
type Target struct {
	ID     InstanceID
	Reason Reason
}

// Step is a Task that can be looked at, printed, compared and recorded: the same data gives the same effect.
type Step struct {
	Kind    Kind
	Cluster ClusterID
	// Count is the number of instances to start; in the other kinds it is len(Targets).
	Count int
	// Reason says why instances are started. In the other kinds each target has its own.
	Reason Reason `json:",omitempty"`
	// Await is the state that a Wait waits for.
	Await InstanceState `json:",omitempty"`
	// Targets are in the order in which to take them: drains by priority, the rest by id. None is there twice.
	Targets []Target `json:",omitempty"`
}

// IDs are the ids of the targets, in their order.
func (s Step) IDs() []InstanceID {
	ids := make([]InstanceID, len(s.Targets))
	for i, t := range s.Targets {
		ids[i] = t.ID
	}
	return ids
}

// Equal says whether both steps do the same for the same reasons.
func (s Step) Equal(other Step) bool {
	return s.Kind == other.Kind && s.Cluster == other.Cluster && s.Count == other.Count && s.Reason == other.Reason &&
		s.Await == other.Await && slices.Equal(s.Targets, other.Targets)
}

// Run does what the step says with one call of env. A context that is done, and a step without targets, reach env not at
// all.
func (s Step) Run(ctx context.Context, env Environment) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.Kind == Start {
		if s.Count <= 0 {
			return nil
		}
		return env.StartInstances(ctx, s.Cluster, s.Count)
	}
	if len(s.Targets) == 0 {
		return nil
	}
	switch s.Kind {
	case Wait:
		return env.WaitInstances(ctx, s.Await, s.IDs()...)
	case Drain:
		return env.DrainInstances(ctx, s.IDs()...)
	case Terminate:
		return env.TerminateInstances(ctx, s.IDs()...)
	}
	return fmt.Errorf("kind of step is %q: want %q, %q, %q or %q", s.Kind, Start, Wait, Drain, Terminate)
}

// String is the step in one line, every target and reason included: "drain i-1 (outdated), i-7 (surplus)".
func (s Step) String() string {
	var b strings.Builder
	switch s.Kind {
	case Start:
		fmt.Fprintf(&b, "start %d (%s)", s.Count, s.Reason)
		return b.String()
	case Wait:
		fmt.Fprintf(&b, "wait until %s: ", s.Await)
	default:
		fmt.Fprintf(&b, "%s ", s.Kind)
	}
	for i, t := range s.Targets {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%s)", t.ID, t.Reason)
	}
	return b.String()
}

// brief is the step for the front of an error: three targets at most.
func (s Step) brief() string {
	const shown = 3
	if s.Kind == Start || len(s.Targets) <= shown {
		return s.String()
	}
	head := s
	head.Targets = s.Targets[:shown]
	return fmt.Sprintf("%s and %d more", head, len(s.Targets)-shown)
}
