package noderoll

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"time"
)

// UpdateDeadline is the time the update of a pod may take before a Feed calls it
// failed: the default of a Deployment's progressDeadlineSeconds.
const UpdateDeadline = 10 * time.Minute

// instances ends a change of a roll of pods.
func (f *Feed) instances() {
	j := &f.changeSet
	for _, rec := range j.nodes {
		if !f.nodesSettled {
			f.touched.node(rec.name)
		}
		f.trackNode(rec)
	}
	for _, p := range j.instances {
		f.time(p)
	}
	for _, e := range j.entries {
		if f.podsHeld {
			f.held = append(f.held, e)
			continue
		}
		f.emit(e)
	}
	j.clear()
}

// release tells what a list has found: by pod, and the end of the roll last.
func (f *Feed) release() {
	f.podsHeld = false
	slices.SortStableFunc(f.held, func(a, b Entry) int {
		switch {
		case a.Kind == EvtComplete && b.Kind != EvtComplete:
			return 1
		case b.Kind == EvtComplete && a.Kind != EvtComplete:
			return -1
		}
		return strings.Compare(a.Object, b.Object)
	})
	for _, e := range f.held {
		f.emit(e)
	}
	f.held = nil
}

// trackNode keeps track of nodes, of which a roll of pods tells only what came
// before a node did: Warnings.
func (f *Feed) trackNode(rec *nodeRec) {
	switch _, known := f.phases.find(rec.name); {
	case !f.nodesSettled:
	case !rec.present:
		f.phases.remove(rec.name)
	default:
		f.phases.set(&rec.view)
		if !known {
			f.warnLate(rec)
		}
	}
}

// time starts, keeps or ends the deadline of a pod's update.
func (f *Feed) time(p *instance) {
	waits := !p.gone && p.update.open && p.stuckOn == ""
	if p.place > 0 && (!waits || p.timed != p.updates) {
		heap.Remove(&f.late, p.place-1)
	}
	if waits && p.place == 0 {
		p.timed, p.deadline = p.updates, f.at+f.opts.UpdateDeadline
		heap.Push(&f.late, p)
	}
}

// expire makes updates late whose deadline has come.
func (f *Feed) expire(at time.Duration) {
	for len(f.late) > 0 && f.late[0].deadline <= at {
		p := heap.Pop(&f.late).(*instance)
		f.at = max(f.at, p.deadline)
		f.state.roll.late(p)
		f.instances()
	}
}

// lateQueue holds the pods whose update continues: a heap by deadline, then name.
type lateQueue []*instance

func (q lateQueue) Len() int { return len(q) }

func (q lateQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].deadline, q[j].deadline), byPod(&q[i].view, &q[j].view)) < 0
}

func (q lateQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i+1, j+1
}

// Push is for container/heap.
func (q *lateQueue) Push(x any) {
	p := x.(*instance)
	*q = append(*q, p)
	p.place = len(*q)
}

// Pop is for container/heap.
func (q *lateQueue) Pop() any {
	last := len(*q) - 1
	p := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	p.place = 0
	return p
}
