package hunt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// NoFault stands for the cases without a fault in a [Coverage].
const NoFault = "none"

// visits are the states in which nodes of one case were: at the begin of each fault or, where there is none, at any time.
type visits struct {
	states  map[string]int // of the nodes, an index of variant.States
	count   [5]int
	ready   map[string]bool // has been ready before
	quiet   bool            // no fault is in the file
	visited map[string]set  // by the fault's action
}

// set has a bit for each of variant.States.
type set uint8

const (
	joining = iota
	online
	draining
	notReady
	terminated
)

func newVisits(f *spec.File) *visits {
	faulty := slices.ContainsFunc(f.Faults, func(one spec.Fault) bool { return one.Mark == nil })
	return &visits{states: map[string]int{}, ready: map[string]bool{}, quiet: !faulty, visited: map[string]set{}}
}

// node notes a node's state.
func (v *visits) node(n *corev1.Node, gone bool) {
	was, known := v.states[n.Name]
	if known {
		v.count[was]--
	}
	if gone {
		delete(v.states, n.Name)
		delete(v.ready, n.Name)
		v.count[terminated]++ // it stays so
	} else {
		is := v.stateOf(n)
		v.states[n.Name] = is
		v.count[is]++
	}
	if v.quiet {
		v.visited[NoFault] |= v.now()
	}
}

// begins notes that a fault begins.
func (v *visits) begins(action string) { v.visited[action] |= v.now() }

// now has the states that nodes are in.
func (v *visits) now() (s set) {
	for i, n := range v.count {
		if n > 0 {
			s |= 1 << i
		}
	}
	return s
}

// stateOf is the state as triggers of faults have it.
func (v *visits) stateOf(n *corev1.Node) int {
	ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	before := v.ready[n.Name]
	v.ready[n.Name] = before || ready
	removed := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "karpenter.sh/disrupted" })
	switch {
	case n.Spec.Unschedulable || removed || n.DeletionTimestamp != nil:
		return draining
	case ready:
		return online
	case before:
		return notReady
	}
	return joining
}

// Visit notes what a case has visited, for a [Coverage], by the tape of a cluster that isn't simulated here, such as that of a test. The file
// is the case, as the cluster had it: with the marks of [variant.Marked].
func (o *Outcome) Visit(f *spec.File, tape timeline.Source) (err error) {
	stream, err := tape.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	v := newVisits(f)
	for {
		ev, err := stream.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		o.Simulated = ev.At
		action, own := variant.Begun(ev.Name)
		switch {
		case ev.Type == timeline.Mark && own:
			v.begins(action)
		case ev.Resource == noderoll.Nodes && ev.Object != nil:
			var n corev1.Node
			if err := json.Unmarshal(ev.Object, &n); err != nil {
				return fmt.Errorf("node %s: %w", ev.Name, err)
			}
			v.node(&n, ev.Type == timeline.Deleted)
		}
	}
	o.visited = v.visited
	if f.Roll != nil {
		o.strategy = string(f.Roll.Strategy)
	}
	return nil
}
