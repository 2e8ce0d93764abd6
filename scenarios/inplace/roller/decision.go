package roller

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Standing is the state of a roll.
type Standing string

// The standings. Finished, Stopped and RolledBack are ends; Stuck may mend itself.
const (
	// Rolling is a roll of which something is to be done or awaited.
	Rolling Standing = "rolling"
	// Stuck is a roll of which nothing can be done now though it isn't at its end. Decision.Blockers say why.
	Stuck Standing = "stuck"
	// Finished is a roll of which every pod is at the target and available, but for failures within the budget.
	Finished Standing = "finished"
	// Stopped is a roll with too many failures, of which nothing is in flight any more.
	Stopped Standing = "stopped"
	// RolledBack is a Stopped roll that has taken back all that it could.
	RolledBack Standing = "rolled back"
)

// Ended says whether a roll that stands so is over.
func (s Standing) Ended() bool { return s == Finished || s == Stopped || s == RolledBack }

// Counts are the pods of a roll. Every pod is in exactly one of the first seven.
type Counts struct {
	Outdated  int // to be changed
	Updating  int // on the way to the target
	Updated   int // at the target
	GoingBack int // on the way back
	GivenUp   int // failed, or taken back
	Broken    int // can't be changed, or can't be read
	Gone      int // deleted or ended
	// Unavailable are those that count against MaxUnavailable, missing ones included.
	Unavailable int
	// Failures are those that count against FailureBudget.
	Failures int
}

// Blocker is why a pod isn't changed now.
type Blocker struct {
	Pod    string // namespace/name; empty if it is the roll as a whole
	Reason string
}

// State is Plan's memory from one call to the next. The zero State is the beginning; one that got lost only has
// restarts reported again.
type State struct {
	// Reported are the restarts that were reported.
	Reported map[Restart]bool
}

// Restart is a container of a pod that was restarted.
type Restart struct {
	UID       types.UID
	Namespace string
	Pod       string
	Container string
	// ContainerID is the id that it has now.
	ContainerID string
}

// Decision is Plan's result.
type Decision struct {
	Standing Standing
	// Actions are in order, and may be done at the same time: none touches the pod of another, but for reports.
	Actions  []Action
	Counts   Counts
	Blockers []Blocker
	// State is the argument of the next Plan, once the actions were tried.
	State State
}

// String is the decision in lines: how it stands, its actions, its blockers.
func (d Decision) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %d updated, %d updating, %d unavailable", d.Standing,
		d.Counts.Updated, d.Counts.pods(), d.Counts.Updating, d.Counts.Unavailable)
	for _, n := range []struct {
		count int
		word  string
	}{{d.Counts.GoingBack, "going back"}, {d.Counts.GivenUp, "given up"}, {d.Counts.Broken, "broken"}} {
		if n.count > 0 {
			fmt.Fprintf(&b, ", %d %s", n.count, n.word)
		}
	}
	for _, a := range d.Actions {
		fmt.Fprintf(&b, "\n  %s", a)
	}
	for _, k := range d.Blockers {
		b.WriteString("\n  blocked: ")
		if k.Pod != "" {
			b.WriteString(k.Pod + ": ")
		}
		b.WriteString(k.Reason)
	}
	return b.String()
}

func (c Counts) pods() int {
	return c.Outdated + c.Updating + c.Updated + c.GoingBack + c.GivenUp + c.Broken
}
