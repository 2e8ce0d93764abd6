package invariant

import (
	"container/heap"
	"github.com/nodesim/nodesim/noderoll"
	"time"
)

// A doubt is something that looks wrong and will be judged when its time has
// come: the other half may still be on its way.
type doubt struct {
	due   time.Duration
	seq   uint64 // orders doubts of the same time
	epoch int
	again bool // has been put off once
	judge func()
}

// doubts are ordered by due and seq.
type doubts struct {
	queue []doubt
	seq   uint64
}

func (d *doubts) Len() int { return len(d.queue) }
func (d *doubts) Less(i, j int) bool {
	a, b := &d.queue[i], &d.queue[j]
	return a.due < b.due || a.due == b.due && a.seq < b.seq
}
func (d *doubts) Swap(i, j int) { d.queue[i], d.queue[j] = d.queue[j], d.queue[i] }
func (d *doubts) Push(x any)    { d.queue = append(d.queue, x.(doubt)) }
func (d *doubts) Pop() any {
	last := d.queue[len(d.queue)-1]
	d.queue[len(d.queue)-1] = doubt{}
	d.queue = d.queue[:len(d.queue)-1]
	return last
}

// later asks for a judgement once the bound and the tolerance are over.
func (c *Checker) later(bound time.Duration, judge func()) {
	c.doubts.seq++
	due := c.at + min(bound, longest) + c.opts.tolerance()
	if due < c.at {
		return // after the end of all tapes
	}
	heap.Push(&c.doubts, doubt{due: due, seq: c.doubts.seq, epoch: c.epoch, judge: judge})
}

// longest bounds what an odd tape may ask to wait for.
const longest = 365 * 24 * time.Hour

// silence is the time a recording may say nothing before it is taken for a
// server that was away: then watches come back one by one.
const silence = 5 * time.Second

// advance lets time pass up to at.
func (c *Checker) advance(at time.Duration) {
	if c.opts.Skew > 0 && at-c.at > silence {
		for len(c.doubts.queue) > 0 && c.doubts.queue[0].due < at {
			d := heap.Pop(&c.doubts).(doubt)
			if d.again {
				c.ask(d)
				continue
			}
			d.due, d.again = at+c.opts.tolerance(), true
			heap.Push(&c.doubts, d)
		}
	}
	c.judge(at)
	c.at = at
	c.graves.expire(at)
	c.forgetHosts()
}

// judge asks all that was due before at.
func (c *Checker) judge(at time.Duration) {
	for len(c.doubts.queue) > 0 && c.doubts.queue[0].due < at {
		c.ask(heap.Pop(&c.doubts).(doubt))
	}
}

func (c *Checker) ask(d doubt) {
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

// stands reports an object in which what has begun is still so when the bound
// is over. It is judged only where asked says so by then.
func (c *Checker) stands(s *standing, h *held, bound time.Duration, i *Invariant, wanted string, asked func() bool) {
	turn, found, began := s.turn, s.what, c.here
	c.later(bound, func() {
		if h.gone || s.turn != turn || s.what == "" || !asked() {
			return
		}
		c.reportAt(began, h, i, found+" since "+string(noderoll.AppendStamp(nil, began.at)), wanted)
	})
}
