package noderoll

import (
	"container/heap"
	"strings"
	"time"
)

// feedNode is what a Feed remembers of a node between changes.
type feedNode struct {
	uid      string // what follows is of this node of the name
	pressure Pressure
	blocked  bool
	deadline time.Duration // while waiting
	place    int           // 1 + index in the queue; 0 while not waiting
}

// renew forgets what was known of another node of the same name.
func (f *Feed) renew(rec *nodeRec) {
	if rec.feed.uid == rec.view.UID {
		return
	}
	if rec.feed.place > 0 {
		heap.Remove(&f.blocks, rec.feed.place-1)
	}
	rec.feed = feedNode{uid: rec.view.UID}
}

// reviewBlock starts, keeps or ends the wait of one node, and its blockade.
func (f *Feed) reviewBlock(rec *nodeRec) {
	draining := rec.present && rec.view.Phase == PhaseDraining
	held := draining && rec.remaining > 0 && rec.refused == rec.remaining
	switch {
	case held && !rec.feed.blocked && rec.feed.place == 0:
		rec.feed.deadline = f.at + f.opts.BlockedAfter
		heap.Push(&f.blocks, rec)
	case !held && rec.feed.place > 0:
		heap.Remove(&f.blocks, rec.feed.place-1)
	case !held && rec.feed.blocked:
		rec.feed.blocked = false
		if draining {
			f.emit(Entry{Kind: EvtUnblocked, Node: rec.name})
		}
	}
}

// blockedEntry names the first budget in the way, and says what it wants.
func (f *Feed) blockedEntry(rec *nodeRec) Entry {
	var first *budgetRec
	double := false
	for _, p := range rec.pods {
		if !p.waits {
			continue
		}
		for _, b := range p.class.budgets {
			if first == nil || b.Namespace < first.Namespace || b.Namespace == first.Namespace && b.Name < first.Name {
				first, double = b, len(p.class.budgets) > 1
			}
		}
	}
	e := Entry{Kind: EvtBlocked, Node: rec.name, Reason: "DisruptionBudget"}
	if first == nil {
		return e
	}
	e.Object = "PodDisruptionBudget/" + first.Namespace + "/" + first.Name
	why := first.why()
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
