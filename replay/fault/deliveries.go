package fault

import (
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// verdict holds what becomes of an event in every stream that comes by it.
type verdict struct {
	drop  bool
	times int   // 0 means once
	holds []int // what has to be let go before it comes
	group int   // of events that become one for each object; 0 for none
	// lost says that watching from before it is 410. Streams that were open have
	// ended before.
	lost bool
}

func (v *verdict) nothing() bool {
	return !v.drop && v.times == 0 && len(v.holds) == 0 && !v.lost
}

// release releases what is held under an id.
type release struct{ id int }

// meets asks a rule about an event of the tape, and writes down what becomes of
// it. entries are the feed's entries for the event.
type meets func(in *injector, r *rule, e *event, p *plan, entries []noderoll.Entry)

// kinds are the kinds of fault that events of the tape give rise to.
var kinds = map[string]meets{
	"drop": hit(drop), "bookmarks": hit(drop), "duplicate": hit(duplicate),
	"delay": hit(delay), "slow": hit(slow), "coalesce": hit(coalesce), "reorder": hit(reorder),
	"close": hit(end), "gone": hit(end), "stall": hit(end), "stale": stale,
	"recreate": recreate, "unobserved": unobserved, "intermediate": intermediate,
}

// hit makes a meets of what a fault does once it has fired.
func hit(do func(in *injector, r *rule, e *event, p *plan)) meets {
	return func(in *injector, r *rule, e *event, p *plan, _ []noderoll.Entry) {
		if in.hit(r, e) {
			do(in, r, e, p)
		}
	}
}

func drop(_ *injector, _ *rule, _ *event, p *plan) { p.verdict.drop = true }

func duplicate(_ *injector, r *rule, _ *event, p *plan) {
	p.verdict.times = max(p.verdict.times, r.spec.Times)
}

// hold holds an event back for a time, or until the tape ends.
func (in *injector) hold(e *event, p *plan, d time.Duration) *timer {
	in.ids++
	p.verdict.holds = append(p.verdict.holds, in.ids)
	return in.later(d, replay.StreamMarker{Resource: e.resource, Value: release{in.ids}})
}

func delay(in *injector, r *rule, e *event, p *plan) { in.hold(e, p, r.spec.By) }

// slow lets a pause pass after the event before.
func slow(in *injector, r *rule, e *event, p *plan) {
	if r.fired > 1 && r.last+r.spec.Every > in.now {
		r.last += r.spec.Every
		in.hold(e, p, r.last-in.now)
		return
	}
	r.last = in.now
}

// group is a number of events that become one for each object.
type group struct {
	id  int
	end time.Duration
}

func coalesce(in *injector, r *rule, e *event, p *plan) {
	if p.verdict.group != 0 {
		return // another rule has it
	}
	g := r.groups[e.resource]
	if g == nil || in.now >= g.end {
		a := in.hold(e, p, r.spec.Within)
		r.groups[e.resource] = &group{in.ids, a.due}
	} else {
		p.verdict.holds = append(p.verdict.holds, g.id)
	}
	p.verdict.group = r.groups[e.resource].id
}

// after is the delay of an event that is to come after another one:
// long enough for one to be delivered before the other.
const behind = 100 * time.Millisecond

func reorder(in *injector, r *rule, e *event, p *plan) {
	r.waiting = append(r.waiting, in.hold(e, p, r.spec.By))
}

// overtaken notes that an event has overtaken what waits in other streams.
func (in *injector) overtaken(e *event) {
	for _, r := range in.rules {
		rest := r.waiting[:0]
		for _, a := range r.waiting {
			if a.signals[0].Resource == e.resource {
				rest = append(rest, a)
				continue
			}
			a.due = min(a.due, in.now+behind)
		}
		r.waiting = rest
	}
}

// moment is when a resource changed, and its version before.
type moment struct {
	at      time.Duration
	version string
}

// remember keeps as much of the past as a rule wants to go back to.
func (in *injector) remember(e *event) {
	trail := in.trails[e.resource]
	if in.back == 0 || !e.live && len(trail) == 0 || !e.Type.Object() && e.Type != timeline.Sync {
		return
	}
	trail = append(trail, moment{e.At, e.version})
	for len(trail) > 1 && trail[1].at <= in.now-in.back {
		trail = trail[1:]
	}
	in.trails[e.resource] = trail
}

// asOf returns the version that a resource had at a position, or the oldest
// that is remembered; "" where it hasn't changed since.
func (in *injector) asOf(r timeline.Resource, at time.Duration) string {
	for _, m := range in.trails[r] {
		if m.at > at {
			return m.version
		}
	}
	return ""
}
