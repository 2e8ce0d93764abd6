package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// span is a list in a dump: the records of a resource from the first to the
// last, both included.
type span struct {
	first, last int
	version     string    // where the list was taken; "" is not known
	ended       time.Time // arrival of the last, if known
	initial     bool
	opening     bool // at 0s
}

// plan holds what reading a dump to its end has shown.
type plan struct {
	resources []*planned
	start     time.Time
	derived   bool // no arrival times
	unsorted  bool // resources or times stand one after the other in the dump
	arrived   time.Time
	records   int
	secrets   int
	errors    int
	torn      int64
	newest    time.Time // in any object so far
}

// planned is one resource of a dump.
type planned struct {
	res     timeline.Resource
	objects int    // events with an object
	spans   []span // in order; the first is the initial list, if there is one

	first   int // record
	last    int // record, of those read so far
	began   time.Time
	arrived time.Time       // of the last
	run     int             // where the present run of ADDED began, or -1
	guess   span            // the leading run of ADDED
	named   map[string]bool // in it
	over    bool            // it has ended
	latest  time.Time       // the newest in it
}

func planImport(ctx context.Context, in io.Reader) (*plan, error) {
	p := &plan{derived: true}
	d := newDump(in)
	if err := d.each(func(r record) error {
		if r.n%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return p.collect(r)
	}); err != nil {
		return nil, err
	}
	p.records, p.torn = d.n, d.torn
	if len(p.resources) == 0 {
		return nil, errors.New("found no watch event, want at least one")
	}
	p.conclude()
	return p, nil
}

// find returns the entry of a record's resource, a new one where there is none.
func (p *plan) find(res timeline.Resource) (*planned, error) {
	for _, r := range p.resources {
		if sameResource(r.res, res) {
			if r.res.Version != res.Version || r.res.Kind != res.Kind {
				return nil, fmt.Errorf("%s: found %s %s, want %s %s as before: a tape holds one version of a resource",
					res, res.APIVersion(), res.Kind, r.res.APIVersion(), r.res.Kind)
			}
			return r, nil
		}
	}
	if len(p.resources) == timeline.MaxMembers {
		return nil, fmt.Errorf("found more than %d resources, want at most so many: a tape holds no more", timeline.MaxMembers)
	}
	r := &planned{res: res, first: -1, last: -1, run: -1}
	p.resources = append(p.resources, r)
	return r, nil
}

func isSecret(r timeline.Resource) bool { return r.Group == "" && r.Kind == "Secret" }

// collect takes in one record of the first reading.
func (p *plan) collect(r record) error {
	switch {
	case r.typ == "ERROR":
		p.errors++
		return nil
	case isSecret(r.res):
		p.secrets++
		return nil
	}
	q, err := p.find(r.res)
	if err != nil {
		return err
	}
	if r.typ == refusal { // is in no list
		q.res.Namespaced = true
		p.clock(r)
		return nil
	}
	if q.first < 0 {
		q.first, q.began = r.n, r.arrived
	}
	p.clock(r)
	switch r.typ {
	case listBegin:
		q.run = r.n
	case listEnd:
		q.mark(span{first: q.run, last: r.n, version: rawjson.Text(r.object, "metadata", "resourceVersion"), ended: r.arrived})
	case "BOOKMARK":
		if endsInitial(r.object) {
			first := q.run
			if first < 0 {
				first = r.n
			}
			q.mark(span{first: first, last: r.n, version: rawjson.Text(r.object, "metadata", "resourceVersion"), ended: r.arrived})
		}
	case "ADDED":
		p.added(q, r)
		p.age(r.object)
	default:
		q.seen(r)
		q.leading()
		q.run = -1
		p.age(r.object)
	}
	q.last, q.arrived = r.n, r.arrived
	return nil
}

// clock notes the times of arrival.
func (p *plan) clock(r record) {
	if r.arrived.IsZero() {
		return
	}
	if p.derived {
		p.derived, p.start, p.arrived = false, r.arrived, r.arrived
	}
	if r.arrived.Before(p.start) {
		p.start = r.arrived
	}
	// Goroutines of a capture may write in another order than they read.
	if r.arrived.Before(p.arrived.Add(-time.Second)) {
		p.unsorted = true
	}
	p.arrived = r.arrived
}

// added takes in a record that may belong to a list.
func (p *plan) added(q *planned, r record) {
	q.seen(r)
	if q.run < 0 {
		q.run = r.n
	}
	if q.over {
		return
	}
	id := identify(r.object)
	version, name := text(id.version), text(id.ns)+"/"+text(id.name)
	if r.n != q.first && !r.list {
		created, _ := time.Parse(time.RFC3339, rawjson.Text(r.object, "metadata", "creationTimestamp"))
		late := !r.arrived.IsZero() && r.arrived.Sub(q.began) > time.Second
		if late || q.named[name] || created.After(p.newest) && newer(version, q.guess.version) {
			q.leading()
			q.named = nil
			return
		}
	}
	if q.named == nil {
		q.named = map[string]bool{}
	}
	q.named[name] = true
	q.guess.version = highest(version, q.guess.version)
	if t := newestTime(r.object); t.After(q.latest) {
		q.latest = t
	}
}

func (p *plan) age(obj []byte) {
	if t := newestTime(obj); t.After(p.newest) {
		p.newest = t
	}
}

func (q *planned) seen(r record) {
	q.objects++
	q.res.Namespaced = q.res.Namespaced || r.res.Namespaced
}

// leading notes that the leading run of ADDED has ended before this record.
func (q *planned) leading() {
	if !q.over {
		q.over = true
		q.guess.first, q.guess.last, q.guess.ended = q.first, q.last, q.arrived
	}
}

// mark adds a list that the dump itself marks. The first one is the initial
// list, and begins with the resource's first record, unless something else
// than ADDED came before.
func (q *planned) mark(s span) {
	s.initial = len(q.spans) == 0 && (!q.over || s.first <= q.first)
	q.over = true
	q.run = -1
	q.spans = append(q.spans, s)
}

func endsInitial(obj []byte) bool {
	return rawjson.Text(obj, "metadata", "annotations", "k8s.io/initial-events-end") == "true"
}

// conclude turns what was seen into spans, and finds where the tape begins.
func (p *plan) conclude() {
	p.unsorted = p.unsorted || p.derived && len(p.resources) > 1
	for _, q := range p.resources {
		if q.objects == 0 {
			q.res.Namespaced = !clusterScoped[q.res.Kind]
		}
		if len(q.spans) > 0 && q.spans[0].initial {
			q.spans[0].first = min(q.spans[0].first, q.first)
		} else {
			q.leading()
			if q.first >= 0 && q.guess.last >= q.guess.first {
				q.guess.initial = true
				q.spans = append([]span{q.guess}, q.spans...)
			}
		}
		if len(q.spans) > 0 && q.spans[0].initial {
			q.spans[0].opening = p.derived || q.spans[0].ended.Sub(p.start) <= openingTime
		}
		if p.derived && q.latest.After(p.start) {
			p.start = q.latest
		}
	}
}
