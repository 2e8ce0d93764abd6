package fault

import (
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
)

// burst is a run of events, or of writes, that stand close together.
type burst struct {
	began bool
	last  time.Duration
	first objectKey
	n     int // writes; 2 for events of a second object
}

// goes takes the next one and reports whether it belongs to the run.
func (b *burst) goes(now, within time.Duration) bool {
	on := b.began && now-b.last <= within
	b.began, b.last = true, now
	return on
}

// intermediate stops the streams before the second object of a change that
// spans several.
func intermediate(in *injector, r *rule, e *event, p *plan, _ []noderoll.Entry) {
	if !r.about(e) {
		return
	}
	b := &r.burst
	switch {
	case !b.goes(in.now, r.spec.Within):
		b.first, b.n = e.objectKey(), 1
	case b.n == 1 && b.first != e.objectKey():
		b.n = 2
		if in.now >= r.last && in.strike(r, e) {
			r.last = in.now + r.spec.For
			p.before = append(p.before, in.endStreams(r, r.resources)...)
		}
	}
}

// interrupts reports whether a write is the second of several.
func (in *injector) interrupts(r *rule, q replay.Request) bool {
	if q.Verb == "get" || q.Verb == "list" || q.Verb == "watch" {
		return false
	}
	if !r.writes.goes(in.now, r.spec.Within) {
		r.writes.n = 0
	}
	r.writes.n++
	return r.writes.n == 2
}
