package variant

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// trigger draws when a fault begins: in most cases at a state of the cluster, since the times of a roll differ from case to case.
func (d *drawer) trigger(f *spec.Fault, before []string) {
	switch {
	case len(before) > 0 && d.once(4):
		f.After = &spec.After{Fault: pick(d.Rand, before), Delay: d.delay()}
	case d.once(3):
		upTo := min(d.f.TimeLimit, time.Hour)
		at := time.Duration(d.Int64N(int64(upTo/time.Second)+1)) * time.Second
		f.At = &at
	case d.once(4):
		f.When = &spec.When{Pods: pick(d.Rand, []spec.PodState{spec.PodPending, spec.PodEvicted}), Count: d.count(), Delay: d.delay()}
	default:
		states := States()
		f.When = &spec.When{Nodes: pick(d.Rand, states), Count: d.count(), Delay: d.delay()}
	}
}

// count draws how many nodes or pods are awaited: mostly the first.
func (d *drawer) count() int { return pick(d.Rand, []int{1, 1, 1, 2, 3}) }

func (d *drawer) delay() time.Duration {
	return pick(d.Rand, []time.Duration{0, 0, time.Second, 10 * time.Second, time.Minute, 5 * time.Minute})
}

// States are those of nodes, as a trigger names them.
func States() []spec.NodeState {
	return []spec.NodeState{spec.NodeJoining, spec.NodeOnline, spec.NodeDraining, spec.NodeNotReady, spec.NodeTerminated}
}

// marked begins the names of marks that Marked adds.
const marked = "hunt: "

// Marked is the file with a mark at the begin of each fault, which a tape doesn't show otherwise. A mark changes nothing else: without
// those that [Begun] knows, the tape is the file's.
func Marked(f *spec.File) *spec.File {
	c := clone(f)
	for i := range f.Faults {
		one := &c.Faults[i]
		if one.Mark != nil {
			continue
		}
		if one.Name == "" {
			one.Name = fmt.Sprintf("hunt-mark-%d", i)
		}
		c.Faults = append(c.Faults, spec.Fault{After: &spec.After{Fault: one.Name}, Mark: &spec.Mark{Name: marked + one.Action()}})
	}
	return c
}

// Begun is the action of the fault whose begin a mark of [Marked] shows.
func Begun(mark string) (action string, is bool) {
	action, is = strings.CutPrefix(mark, marked)
	return action, is && slices.Contains(actions, action)
}

// actions are those whose marks count: those of all faults but marks.
var actions = append(Actions(), "createWorkload")
