package fault

import (
	"slices"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// passage is a state that an object passes through while nobody sees it.
type passage struct {
	of  thing
	end *appointment // nil while there is none
}

// unobserved silences the streams while an object passes through a state, and
// ends them behind it: the client lists, and finds the object as it is then, or
// gone. A node passes through draining and notready, until it is online again
// or terminated, as the feed has it. Any other object passes through what one
// event makes of it, until its next event.
func unobserved(in *injector, r *rule, e *event, p *plan, entries []noderoll.Entry) {
	if !slices.Contains(r.resources, e.resource) {
		return
	}
	now := &r.passing
	if now.end != nil && !slices.Contains(in.diary, now.end) {
		now.end = nil // its time was over
	}
	if now.end != nil {
		over := e.thing() == now.of
		if isNodes(e.resource) && r.spec.Types == "" {
			over = passed(entries, now.of.name, noderoll.EvtOnline, noderoll.EvtTerminated)
		}
		if over {
			p.behind = append(p.behind, in.early(now.end)...)
			now.end = nil
		}
		return
	}
	if isNodes(e.resource) && r.spec.Types == "" {
		if !passed(entries, e.Name, noderoll.EvtDraining, noderoll.EvtNotReady) || passed(entries, e.Name, noderoll.EvtTerminated) {
			return
		}
	} else if r.spec.Types == "" && e.Type != timeline.Modified {
		return
	}
	if !in.hit(r, e) {
		return
	}
	var signals []replay.Signal
	now.of = e.thing()
	now.end, signals = in.silence(r, r.resources, true)
	p.ahead = append(p.ahead, signals...)
}

// passed reports whether a node has come into one of the states.
func passed(entries []noderoll.Entry, node string, states ...noderoll.EventKind) bool {
	return slices.ContainsFunc(entries, func(e noderoll.Entry) bool {
		return e.Node == node && slices.Contains(states, e.Kind)
	})
}
