package invariant

import (
	"container/heap"
	"github.com/nodesim/nodesim/noderoll"
	"time"
)

// A deferredCheck is something that looks wrong and will be judged when its time has
// come: the other half may still be on its way.
type deferredCheck struct {
	due   time.Duration
	seq   uint64 // orders checks of the same time
	epoch int
	again bool // has been put off once
	judge func()
}

// deferredChecks are ordered by due and seq.
type deferredChecks struct {
	queue []deferredCheck
	seq   uint64
}

func (d *deferredChecks) Len() int { return len(d.queue) }
func (d *deferredChecks) Less(i, j int) bool {
	a, b := &d.queue[i], &d.queue[j]
	return a.due < b.due || a.due == b.due && a.seq < b.seq
}
func (d *deferredChecks) Swap(i, j int) { d.queue[i], d.queue[j] = d.queue[j], d.queue[i] }
func (d *deferredChecks) Push(x any)    { d.queue = append(d.queue, x.(deferredCheck)) }
func (d *deferredChecks) Pop() any {
	last := d.queue[len(d.queue)-1]
	d.queue[len(d.queue)-1] = deferredCheck{}
	d.queue = d.queue[:len(d.queue)-1]
	return last
}

// later asks for a judgement once the bound and the tolerance are over.
func (c *Checker) later(bound time.Duration, judge func()) {
	c.deferredChecks.seq++
	due := c.at + min(bound, longest) + c.opts.tolerance()
	if c.epoch > 0 {
		due = max(due, c.gapAt+watchBackoff+c.opts.tolerance())
	}
	if due < c.at {
		return // after the end of all tapes
	}
	heap.Push(&c.deferredChecks, deferredCheck{due: due, seq: c.deferredChecks.seq, epoch: c.epoch, judge: judge})
}

// longest bounds what an odd tape may ask to wait for.
const longest = 365 * 24 * time.Hour

// watchBackoff is how long after a gap controllers may not know yet what the tape shows: the API server was away for
// them too, and client-go tries to watch again after up to 30 s, and as much again of jitter
// (k8s.io/client-go, tools/cache/reflector.go, NewReflectorWithOptions).
const watchBackoff = 60 * time.Second

// silence is the time a recording may say nothing before it is taken for a
// server that was away: then watches come back one by one.
const silence = 5 * time.Second

// advance lets time pass up to at.
func (c *Checker) advance(at time.Duration) {
	if c.opts.Skew > 0 && at-c.at > silence {
		for len(c.deferredChecks.queue) > 0 && c.deferredChecks.queue[0].due < at {
			d := heap.Pop(&c.deferredChecks).(deferredCheck)
			if d.again {
				c.ask(d)
				continue
			}
			d.due, d.again = at+c.opts.tolerance(), true
			heap.Push(&c.deferredChecks, d)
		}
	}
	c.judge(at)
	if c.at != at || c.latest.IsZero() {
		c.at, c.latest = at, c.opts.Start.Add(at+c.opts.tolerance())
	}
	c.tombstones.expire(at)
	c.forgetHosts()
}

// judge asks all that was due before at.
func (c *Checker) judge(at time.Duration) {
	for len(c.deferredChecks.queue) > 0 && c.deferredChecks.queue[0].due < at {
		c.ask(heap.Pop(&c.deferredChecks).(deferredCheck))
	}
}

func (c *Checker) ask(d deferredCheck) {
	if d.epoch == c.epoch {
		d.judge()
	}
}

// standing is a state that a controller has to repair in time.
type standing struct {
	what  string // empty while all is well
	epoch int
	turn  int
}

// begins notes what is wrong now, empty for nothing, and reports whether that
// is new.
func (c *Checker) begins(s *standing, what string) bool {
	if what == "" {
		s.what = ""
		return false
	}
	if s.what == what && s.epoch == c.epoch {
		return false
	}
	s.what, s.epoch = what, c.epoch
	s.turn++
	return true
}

// checkOverdue reports an object in which what has begun is still so when the bound
// is over. It is judged only where asked says so by then.
func (c *Checker) checkOverdue(s *standing, h *trackedObject, bound time.Duration, i *Invariant, wanted string, asked func() bool) {
	turn, found, began := s.turn, s.what, c.here
	c.later(bound, func() {
		if h.gone || s.turn != turn || s.what == "" || !asked() {
			return
		}
		c.reportAt(began, h, i, found+" since "+string(noderoll.AppendStamp(nil, began.at)), wanted)
	})
}
