package fault

import (
	"slices"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// passage is a state that an object passes through while no watch sees it.
type passage struct {
	of  objectKey
	end *timer // nil while there is none
	// joins says that it is a node that joins: one that drains, or isn't ready,
	// takes its place.
	joins bool
}

// unobserved silences the streams while an object passes through a state, and
// ends them after it: the client lists, and finds the object as it is then, or
// gone. A node passes through joining, draining and notready, until it is online
// or terminated, as the feed has it. Any other object passes through what one
// event makes of it, until its next event.
func unobserved(in *injector, r *rule, e *event, p *plan, entries []noderoll.Entry) {
	if !slices.Contains(r.resources, e.resource) {
		return
	}
	now := &r.passing
	if now.end != nil && !slices.Contains(in.timers, now.end) {
		now.end = nil // its time was over
	}
	staged := isNodes(e.resource) && r.spec.Types == ""
	away := passed(entries, e.Name, noderoll.EvtCordoned, noderoll.EvtDraining, noderoll.EvtNotReady) && !passed(entries, e.Name, noderoll.EvtTerminated)
	if now.end != nil {
		over := !staged && e.objectKey() == now.of || staged && passed(entries, now.of.name, noderoll.EvtOnline, noderoll.EvtTerminated)
		switch {
		case staged && now.joins && away && in.hit(r, e):
			now.of, now.joins = e.objectKey(), false
		case over:
			p.after = append(p.after, in.early(now.end)...)
			now.end = nil
		}
		return
	}
	joins := passed(entries, e.Name, noderoll.EvtJoining)
	if staged && !away && !joins || !staged && r.spec.Types == "" && e.Type != timeline.Modified || !in.hit(r, e) {
		return
	}
	end, signals := in.silence(r, r.resources, true)
	*now = passage{of: e.objectKey(), end: end, joins: staged && !away}
	p.before = append(p.before, signals...)
}

// passed reports whether a node has come into one of the states.
func passed(entries []noderoll.Entry, node string, states ...noderoll.EventKind) bool {
	return slices.ContainsFunc(entries, func(e noderoll.Entry) bool {
		return e.Node == node && slices.Contains(states, e.Kind)
	})
}
