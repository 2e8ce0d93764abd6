package invariant

import (
	"time"

	"github.com/nodesim/nodesim/internal/labelindex"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Checker checks the changes of a tape, in their order, against [All] invariants.
//
// What can be judged at once is reported with the change that breaks it. What
// takes two objects, or time, is judged when the bound is over, and a tape that
// ends before judges nothing: a violation may therefore be reported later than
// it happened, but Violation.At is where it began. Each object is reported once
// for each invariant.
//
// A Checker remembers the living objects, and the dead of the last two minutes.
// It is a decider like the rest of the package, for one goroutine, and takes
// anything: objects with missing or odd members, unknown types, time that goes
// back (it is taken as standing still).
type Checker struct {
	opts CheckOptions

	at     time.Duration
	here   position  // of the change that is looked at
	latest time.Time // that an object may show by now

	streams        map[string]*stream
	objects        map[objectKey]*trackedObject
	tombstones     tombstones
	hosts          map[string]*host
	emptied        fifo[emptied]
	budgets        map[string]*labelindex.Selecting[*trackedObject] // by namespace
	pods           map[string]*trackedPods                          // by namespace
	comparisons    map[string]int                                   // by namespace, see labelindex.ComparisonsPerChange
	uncounted      map[string]bool                                  // namespaces that need more
	deferredChecks deferredChecks
	epoch          int           // counts gaps: what was doubted before one isn't any more
	gapAt          time.Duration // of the last gap
	// lifecycle says that a node lifecycle controller is at work.
	lifecycle bool
	// clocked says that the tape's clock is the cluster's: an object was ADDED
	// when it says that it was created. A recording of a replay gets old times.
	clocked bool
	roll    trackedRoll

	found []Violation
	room  []trackedCondition // for those of the object that is looked at

	memory memory
}

// position is where on the tape something stands.
type position struct {
	at   time.Duration
	line int
}

// NewChecker returns a Checker for one tape, from its start on.
func NewChecker(o CheckOptions) *Checker {
	c := &Checker{
		streams: map[string]*stream{}, objects: map[objectKey]*trackedObject{}, hosts: map[string]*host{}, budgets: map[string]*labelindex.Selecting[*trackedObject]{}, pods: map[string]*trackedPods{},
		comparisons: map[string]int{}, uncounted: map[string]bool{},
		tombstones: tombstones{dead: map[string]position{}},
	}
	c.begin(o)
	return c
}

// Reset begins another tape, as [NewChecker] does, in the memory of the one before: it is for many short tapes, one after
// the other.
func (c *Checker) Reset(o CheckOptions) {
	clear(c.streams)
	clear(c.objects)
	clear(c.hosts)
	clear(c.budgets)
	clear(c.pods)
	clear(c.comparisons)
	clear(c.uncounted)
	clear(c.tombstones.dead)
	c.tombstones.order.clear()
	c.emptied.clear()
	clear(c.deferredChecks.queue)
	c.memory.reuse()
	c.begin(o)
}

// begin begins a tape in memory that holds nothing.
func (c *Checker) begin(o CheckOptions) {
	o.Skew, o.Slack, o.Lag = max(0, o.Skew), max(0, o.Slack), max(0, o.Lag)
	*c = Checker{
		opts: o, lifecycle: o.Controllers, clocked: o.Skew == 0,
		streams: c.streams, objects: c.objects, hosts: c.hosts, budgets: c.budgets, pods: c.pods, comparisons: c.comparisons, uncounted: c.uncounted,
		tombstones: c.tombstones, emptied: c.emptied, deferredChecks: deferredChecks{queue: c.deferredChecks.queue[:0]},
		found: c.found[:0], room: c.room[:0], memory: c.memory,
	}
}

// Observe takes the next change. The slice is valid until the next call; nil
// where nothing is wrong.
func (c *Checker) Observe(ch Change) []Violation {
	c.found = c.found[:0]
	c.advance(max(c.at, ch.At))
	c.here = position{c.at, ch.Line}
	s := c.stream(ch.Resource)
	switch ch.Type {
	case ChangeSync:
		s.synced, s.gap = true, false
	case ChangeGap:
		s.gap = true
		c.epoch++
		c.gapAt = c.at
	case ChangeAdded, ChangeModified, ChangeDeleted:
		if ch.Object != nil {
			c.object(s, &ch)
		}
	}
	return c.result()
}

// End judges what is still open at the end of the tape, as far as its time has
// come.
func (c *Checker) End() []Violation {
	c.found = c.found[:0]
	c.judge(c.at + 1)
	return c.result()
}

func (c *Checker) result() []Violation {
	if len(c.found) == 0 {
		return nil
	}
	return c.found
}

// object looks at one state of one object, first as any object, then as what it is.
func (c *Checker) object(s *stream, ch *Change) {
	if isNil(ch.Object) {
		return
	}
	h, fresh := c.live(s, ch)
	step := step{Change: ch, first: fresh, jump: s.jumps(c.at)}
	c.metadata(h, &step)
	switch o := ch.Object.(type) {
	case *corev1.Node:
		c.node(h, o, &step)
	case *corev1.Pod:
		c.pod(h, o, &step)
	case *policyv1.PodDisruptionBudget:
		c.budget(h, o, &step)
	case *corev1.Event:
		c.event(h, o, &step)
	}
	if ch.Type == ChangeDeleted {
		c.forget(h)
	}
}

// isNil reports whether an interface holds a typed nil.
func isNil(o any) bool {
	switch o := o.(type) {
	case *corev1.Node:
		return o == nil
	case *corev1.Pod:
		return o == nil
	case *policyv1.PodDisruptionBudget:
		return o == nil
	case *corev1.Event:
		return o == nil
	}
	return false
}

// step is a Change on its way through the invariants.
type step struct {
	*Change
	first bool // of this object
	// jump says that the state comes from a list: what was between it and the
	// state before isn't known.
	jump bool
}

// report notes that an object breaks an invariant here.
func (c *Checker) report(h *trackedObject, i *Invariant, found, wanted string) {
	c.reportAt(c.here, h, i, found, wanted)
}

func (c *Checker) reportAt(p position, h *trackedObject, i *Invariant, found, wanted string) {
	if !h.tell(i) {
		return
	}
	c.found = append(c.found, Violation{
		Invariant: i.Name, At: p.at, Line: p.line, Object: h.String(), Found: found, Wanted: wanted,
	})
}

// now is the tape's wall time; ok is false where it is unknown.
func (c *Checker) now() (t time.Time, ok bool) {
	return c.opts.Start.Add(c.at), !c.opts.Start.IsZero()
}
