package auditlog

import "math"

// resource is one that is taken from the log, with what happened to it.
type resource struct {
	group, plural, kind string
	version             string // apiVersion of the answers
	entries             []entry
	list                uint64         // version of what it begins with
	lost                map[string]int // changes that can't be known, by why
}

// taken are the resources that a roll is about: those that are recorded by default, and the machines
// of Karpenter and Cluster API.
func taken() []*resource {
	return []*resource{
		{plural: "nodes", kind: "Node"},
		{plural: "pods", kind: "Pod"},
		{plural: "events", kind: "Event"},
		{group: "events.k8s.io", plural: "events", kind: "Event"},
		{group: "policy", plural: "poddisruptionbudgets", kind: "PodDisruptionBudget"},
		{group: "karpenter.sh", plural: "nodeclaims", kind: "NodeClaim"},
		{group: "cluster.x-k8s.io", plural: "machines", kind: "Machine"},
	}
}

// op is what a request says about its object.
type op uint8

const (
	opRead     op = iota // the body is its state, by a request that changed nothing
	opState              // the body is its state now
	opCreated            // likewise, and it is new
	opFinal              // it is gone; the body, if any, is its last state
	opDeleted            // its deletion without grace was asked for; the body is a timed
	opGraceful           // its deletion begins; the body is a timed
	opEvicted            // likewise, by an eviction
	opBound              // the pod has a node; the body is its name
	opPatched            // the body is a patch
	opPut                // the body is what was sent
	opStatus             // likewise, of which the status counts
	opRefused            // its eviction was refused; the body is that of a dump
)

// hasState reports whether the body is a state that the server told.
func (o op) hasState() bool { return o == opRead || o == opState || o == opCreated }

// writes is how often the server writes an object for such a request, at most.
func (o op) writes() uint64 {
	switch o {
	case opEvicted, opFinal, opDeleted:
		return 2
	case opRefused:
		return 0
	}
	return 1
}

// entry is one request that matters.
type entry struct {
	// When the answer was complete, and when the request came, as Unix nanoseconds.
	at, received int64
	answered     int64 // as the log has it; at may be another where the order says so

	version uint64
	body    place
	name    string // namespace/name
	op      op
	undo    undo
	twice   bool // there is a second version, above it
}

// gone reports whether an entry says that an object isn't there, and not how it went.
func (e *entry) gone() bool { return e.op == opFinal && e.body.n == 0 }

// undo says what a request has changed in the state that it was answered with, so that an
// object which the log first shows here can be put as it was before.
type undo uint8

const (
	undoCordon undo = 1 << iota
	undoTaints
	undoDelete
)

const never = math.MaxInt64

func (r *resource) lose(why string) {
	if r.lost == nil {
		r.lost = map[string]int{}
	}
	r.lost[why]++
}

// key names the resource for people.
func (r *resource) key() string {
	if r.group == "" || r.group == "policy" {
		return r.plural
	}
	return r.plural + "." + r.group
}
