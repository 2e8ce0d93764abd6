package cycle

import (
	"fmt"
	"strconv"
	"strings"
)

// OptionError is an option, or a field of a TaskConfig, that can't be.
type OptionError struct {
	Field string
	Found any
	Want  string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("plan: %s is %v: want %s", e.Field, e.Found, e.Want)
}

// BoundsError says that no order of steps can replace the outdated instances: none may be missing, and none may be there
// in addition.
type BoundsError struct {
	Cluster        ClusterID
	Outdated       int // instances that serve and are to be replaced
	Floor, Ceiling int // fewest that serve, most that are listed
}

func (e *BoundsError) Error() string {
	return fmt.Sprintf("plan cluster %q: %d outdated to replace, but at least %d must serve and at most %d may be listed: "+
		"want a lower MinSize (or more MaxUnavailable), or a higher MaxSize (or more MaxSurge)",
		e.Cluster, e.Outdated, e.Floor, e.Ceiling)
}

// InstanceError is an instance that can't be planned for, since acting on it could hit the wrong one.
type InstanceError struct {
	Cluster ClusterID
	Index   int // in Cluster.Instances
	ID      InstanceID
	Problem string
}

func (e *InstanceError) Error() string {
	return fmt.Sprintf("plan cluster %q: instance %d, id %q: %s", e.Cluster, e.Index, e.ID, e.Problem)
}

// StuckError is the error of Tasks where an empty list would look like success: nothing can be done, and the cluster
// is not as it should be.
type StuckError struct {
	Cluster  ClusterID
	Blockers []Blocker
}

func (e *StuckError) Error() string {
	const shown = 3
	var why []string
	for _, b := range e.Blockers[:min(shown, len(e.Blockers))] {
		why = append(why, b.String())
	}
	if more := len(e.Blockers) - shown; more > 0 {
		why = append(why, "and "+itoa(more)+" more")
	}
	return fmt.Sprintf("plan cluster %q: stuck: %s: want the environment to change this", e.Cluster, strings.Join(why, "; "))
}

// PanicError is a panic of a task, or of the environment below it, that Run caught.
type PanicError struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value of the panic where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

func itoa(n int) string { return strconv.Itoa(n) }
