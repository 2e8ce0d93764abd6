package noderoll

import (
	"container/heap"
	"strings"
	"time"
)

// feedNode holds what a Feed remembers of a node between changes.
type feedNode struct {
	uid      string // what follows is of this node of the name
	pressure Pressure
	cordoned bool // the feed has told that it is, and not yet that it drains
	blocked  bool
	// While its pods are all refused, and it isn't called blocked yet:
	drained  bool          // waits as a node that somebody drains
	since    time.Duration // from when on
	deadline time.Duration
	place    int   // 1 + index in the queue; 0 while not in it
	parkedIn *pool // waits its turn there, since other nodes of the pool are drained
}

// renew forgets what was known of another node of the same name.
func (f *Feed) renew(rec *nodeRec) {
	if rec.feed.uid == rec.view.UID {
		return
	}
	f.unwait(rec)
	rec.feed = feedNode{uid: rec.view.UID}
}

// reviewBlock starts, keeps or ends the wait of one node, and its blockade.
func (f *Feed) reviewBlock(rec *nodeRec) {
	n := &rec.feed
	draining := rec.present && rec.view.Phase == PhaseDraining
	held := draining && rec.held()
	waits := n.place > 0 || n.parkedIn != nil
	if waits && (!held || n.drained != rec.drained) {
		f.unwait(rec)
		waits = false
	}
	switch {
	case held && !n.blocked && !waits:
		n.drained, n.since = rec.drained, f.at
		f.wait(rec)
	case !held && n.blocked:
		n.blocked = false
		if draining {
			f.emit(Entry{Kind: EvtUnblocked, Node: rec.name})
		}
	}
}

// wait lets a node wait for being called blocked. One that nobody drains yet waits
// its turn while others of its pool are drained, and from the last move there on: a
// drain that is refused from its first request on shows nothing else.
func (f *Feed) wait(rec *nodeRec) {
	n, from := &rec.feed, rec.feed.since
	if !n.drained {
		p := rec.pool
		if p.count.draining > p.count.cordoned {
			if p.feed.parked == nil {
				p.feed.parked = make(map[*nodeRec]struct{})
			}
			n.parkedIn, p.feed.parked[rec] = p, struct{}{}
			return
		}
		from = max(from, p.feed.moved)
	}
	n.deadline = from + f.opts.BlockedAfter
	heap.Push(&f.blocks, rec)
}

// unwait ends a wait.
func (f *Feed) unwait(rec *nodeRec) {
	if rec.feed.place > 0 {
		heap.Remove(&f.blocks, rec.feed.place-1)
	}
	if p := rec.feed.parkedIn; p != nil {
		delete(p.feed.parked, rec)
		rec.feed.parkedIn = nil
	}
}

// wake lets the nodes go on waiting that waited their turn, once nobody is drained
// in their pool.
func (f *Feed) wake(p *pool) {
	if len(p.feed.parked) == 0 || p.count.draining > p.count.cordoned {
		return
	}
	for rec := range p.feed.parked { // in any order: the queue has its own
		f.unwait(rec)
		f.wait(rec)
	}
}

// due takes the first node off the queue, and calls it blocked unless its pool has
// moved meanwhile.
func (f *Feed) due() {
	rec := f.blocks.pop()
	if p := rec.pool; !rec.feed.drained &&
		(p.count.draining > p.count.cordoned || p.feed.moved+f.opts.BlockedAfter > rec.feed.deadline) {
		f.wait(rec)
		return
	}
	f.at = max(f.at, rec.feed.deadline)
	rec.feed.blocked = true
	f.emit(f.blockedEntry(rec))
}

// blockedEntry names the first budget in the way, and says what it wants.
func (f *Feed) blockedEntry(rec *nodeRec) Entry {
	first, double := rec.obstacle()
	e := Entry{Kind: EvtBlocked, Node: rec.name, Reason: "DisruptionBudget"}
	if d, ok := rec.denied(); ok {
		e.Object, e.Message = d.object(), d.Message+"; "+waiting(rec.remaining)
		return e
	}
	if first == nil {
		return e
	}
	e.Object = "PodDisruptionBudget/" + first.Namespace + "/" + first.Name
	why := first.Why()
	if double {
		why = "pods have more than one budget, which the eviction API does not support"
	}
	e.Message = why + "; " + waiting(rec.remaining)
	return e
}

func waiting(pods int) string {
	s := count(pods, "pod")
	if pods == 1 {
		return s + " waits"
	}
	return s + " wait"
}

// blockQueue holds the nodes whose drain is held up and not yet called blocked:
// a heap by deadline, then name.
type blockQueue []*nodeRec

func (q blockQueue) Len() int { return len(q) }

func (q blockQueue) Less(i, j int) bool {
	if q[i].feed.deadline != q[j].feed.deadline {
		return q[i].feed.deadline < q[j].feed.deadline
	}
	return strings.Compare(q[i].name, q[j].name) < 0
}

func (q blockQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].feed.place, q[j].feed.place = i+1, j+1
}

// Push is for container/heap.
func (q *blockQueue) Push(x any) {
	rec := x.(*nodeRec)
	*q = append(*q, rec)
	rec.feed.place = len(*q)
}

// Pop is for container/heap.
func (q *blockQueue) Pop() any {
	last := len(*q) - 1
	rec := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	rec.feed.place = 0
	return rec
}

func (q *blockQueue) pop() *nodeRec { return heap.Pop(q).(*nodeRec) }
