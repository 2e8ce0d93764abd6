package fault

import (
	"slices"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// turns are the changes of a node that stale takes back.
var turns = []noderoll.EventKind{noderoll.EvtJoining, noderoll.EvtCordoned, noderoll.EvtNotReady, noderoll.EvtTerminated}

// stale throws clients back after an event, to the state of some time before.
// Where nothing says which, it is the first that makes a node join, the first
// that makes one drain, and so on: each is taken back once.
func stale(in *injector, r *rule, e *event, p *plan, entries []noderoll.Entry) {
	if !slices.Contains(r.resources, e.resource) || r.bare && isNodes(e.resource) && !r.turns(e, entries) || !in.hit(r, e) {
		return
	}
	p.after = append(p.after, in.endStreams(r, []timeline.Resource{e.resource})...)
}

// turns reports whether a node has come into a state in which none was before.
func (r *rule) turns(e *event, entries []noderoll.Entry) bool {
	for _, turn := range turns {
		if !r.turned[turn] && passed(entries, e.Name, turn) {
			r.turned[turn] = true
			return true
		}
	}
	return false
}
