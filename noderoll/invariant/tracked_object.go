package invariant

import (
	"github.com/nodesim/nodesim/noderoll"
	"slices"
	"time"
)

// objectKey holds what an object is called while it lives.
type objectKey struct{ resource, namespace, name string }

// trackedObject holds what a Checker remembers of a living object.
type trackedObject struct {
	key     objectKey
	uid     string
	version string
	created time.Time
	// deletion is the deletion timestamp, zero while there is none.
	deletion   time.Time
	grace      int64
	generation int64
	finalizers bool
	gone       bool
	reported   []*Invariant

	// One of them is set, if the kind is looked into.
	node   *trackedNode
	pod    *trackedPod
	budget *trackedBudget
	event  *trackedEvent
}

// kinds are the kinds of the resources that are looked into.
var kinds = map[string]string{noderoll.Nodes: "Node", noderoll.Pods: "Pod", noderoll.Budgets: "PodDisruptionBudget", noderoll.Events: "Event"}

func (h *trackedObject) String() string {
	kind := kinds[h.key.resource]
	if kind == "" {
		kind = h.key.resource
	}
	if h.key.namespace == "" {
		return kind + "/" + h.key.name
	}
	return kind + "/" + h.key.namespace + "/" + h.key.name
}

// tell notes that the object is reported for an invariant, and reports whether
// it is the first time.
func (h *trackedObject) tell(i *Invariant) bool {
	if slices.Contains(h.reported, i) {
		return false
	}
	h.reported = append(h.reported, i)
	return true
}

// stream holds what is known of one resource on the tape.
type stream struct {
	begun   bool
	first   time.Duration // position of its first change
	synced  bool          // its initial list is over
	gap     bool          // between a GAP and the SYNC that ends it
	version string        // of its latest change
}

func (c *Checker) stream(resource string) *stream {
	s := c.streams[resource]
	if s == nil {
		s = &stream{}
		c.streams[resource] = s
	}
	if !s.begun {
		s.begun, s.first = true, c.at
	}
	return s
}

// jumps reports whether a change at this position comes from a list. Where
// nothing says when the first list ends, it ends when time moves on.
func (s *stream) jumps(at time.Duration) bool { return s.gap || !s.synced && at == s.first }

// whole reports whether all objects of a resource are known.
func (c *Checker) whole(resource string) bool {
	s := c.streams[resource]
	return s != nil && !s.gap && (s.synced || c.at > s.first)
}

// remembered is for how long the dead are.
const remembered = 2 * time.Minute

// fifo holds what is to be forgotten, oldest first.
type fifo[T any] struct {
	all   []T
	first int // what is before has been taken out
}

func (q *fifo[T]) push(x T) { q.all = append(q.all, x) }

// take takes the oldest out if due says so.
func (q *fifo[T]) take(due func(*T) bool) (x T, ok bool) {
	if q.first == len(q.all) || !due(&q.all[q.first]) {
		return x, false
	}
	x = q.all[q.first]
	var none T
	q.all[q.first] = none
	if q.first++; q.first > len(q.all)/2 {
		n := copy(q.all, q.all[q.first:])
		clear(q.all[n:])
		q.all, q.first = q.all[:n], 0
	}
	return x, true
}

// clear forgets all.
func (q *fifo[T]) clear() {
	clear(q.all)
	q.all, q.first = q.all[:0], 0
}

// tombstones are the UIDs of objects that are gone, by time.
type tombstones struct {
	dead  map[string]position
	order fifo[tombstone]
}

type tombstone struct {
	uid string
	at  time.Duration
}

func (g *tombstones) add(uid string, p position) {
	if uid == "" {
		return
	}
	g.dead[uid] = p
	g.order.push(tombstone{uid, p.at})
}

func (g *tombstones) expire(at time.Duration) {
	for {
		old, ok := g.order.take(func(g *tombstone) bool { return g.at+remembered < at })
		if !ok {
			return
		}
		if p := g.dead[old.uid]; p.at == old.at {
			delete(g.dead, old.uid)
		}
	}
}

// forget drops an object that was deleted.
func (c *Checker) forget(h *trackedObject) {
	h.gone = true
	delete(c.objects, h.key)
	c.tombstones.add(h.uid, c.here)
	switch {
	case h.node != nil:
		c.nodeGone(h)
	case h.pod != nil:
		c.podGone(h)
	case h.budget != nil:
		c.budgetGone(h)
	}
}
