package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// item is a record on its way to the tape.
type item struct {
	q       *planned
	n       int
	at      time.Duration
	typ     string
	raw     []byte // redacted
	said    []byte // of a refusal
	version string // of a bookmark
}

// importer is the second reading of a dump.
type importer struct {
	plan      *plan
	sequencer *sequencer
	redactor  *timeline.Redactor
	states    map[*planned]*resourceState
	next      map[*planned]int      // which of its spans is next, or under way
	listed    map[*planned][][]byte // of the list under way
	newest    map[*planned]time.Duration

	last    time.Duration
	opening int    // lists that the dump began with and that are not complete
	begun   bool   // they are on the tape
	held    []item // what came among them
}

// write reads the dump again and makes the tape.
func (p *plan) write(ctx context.Context, in io.Reader, s *scope, o ImportOptions) (Summary, error) {
	redactor := timeline.DefaultRedaction()
	if o.Full {
		redactor = timeline.FullRedaction()
	}
	h := p.header(o, redactor)
	im := &importer{
		plan: p, sequencer: newSequencer(&h, s), redactor: redactor, states: map[*planned]*resourceState{},
		next: map[*planned]int{}, listed: map[*planned][][]byte{}, newest: map[*planned]time.Duration{},
	}
	for i, q := range p.resources {
		t := im.sequencer.states[i]
		t.names = map[string]*object{}
		im.states[q] = t
		if len(q.spans) > 0 && q.spans[0].opening {
			im.opening++
		}
	}
	out, err := o.Open(h)
	if err != nil {
		return Summary{}, err
	}
	im.sequencer.tape = out
	if err = im.run(ctx, in); err == nil && s != nil {
		err = s.unmatched(o.Scope)
	}
	if err == nil {
		err = out.Sync()
	}
	sum := Summary{Stats: im.sequencer.stats(), Header: h, LeftOut: im.leftOut()}
	sum.At, sum.Events, sum.Bytes = im.last, out.Events(), out.Bytes()
	return sum, errors.Join(err, out.Close())
}

func (p *plan) header(o ImportOptions, redactor *timeline.Redactor) timeline.Header {
	h := timeline.Header{
		APIVersion: timeline.APIVersion, Kind: timeline.Kind,
		Metadata: timeline.Metadata{Name: o.Name, Start: timeline.Time{Time: p.start.UTC()}},
		Source:   timeline.Origin{Kind: timeline.SourceImport, Times: timeline.TimesObserved},
		Scope:    o.Scope.header(),

		Redaction: redactor.Paths(),
	}
	if p.derived {
		h.Source.Times = timeline.TimesDerived
	}
	if len(o.Scope.Providers) == 1 {
		h.Scope.Provider = o.Scope.Providers[0].Name
	}
	for _, q := range p.resources {
		h.Resources = append(h.Resources, q.res)
	}
	return h
}

// run takes every record to the tape.
func (im *importer) run(ctx context.Context, in io.Reader) error {
	if err := im.begin(); err != nil {
		return err
	}
	queues := map[*planned][]item{}
	d := newDump(in)
	if err := d.each(func(r record) error {
		if r.n%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		it, ok, err := im.item(r)
		if err != nil || !ok {
			return err
		}
		if im.plan.unsorted {
			queues[it.q] = append(queues[it.q], it)
			return nil
		}
		return im.arrive(it)
	}); err != nil {
		return err
	}
	for {
		it, ok := im.earliest(queues)
		if !ok {
			break
		}
		if err := im.arrive(it); err != nil {
			return err
		}
	}
	if im.plan.torn > 0 {
		return nil // no END: the dump didn't end cleanly
	}
	return im.sequencer.end(im.last, "")
}

// earliest takes the earliest of the first items of the queues: among equals
// the one that stands first in the dump.
func (im *importer) earliest(queues map[*planned][]item) (item, bool) {
	var best *planned
	for _, q := range im.plan.resources {
		if len(queues[q]) == 0 {
			continue
		}
		if best == nil || queues[q][0].at < queues[best][0].at {
			best = q
		}
	}
	if best == nil {
		return item{}, false
	}
	it := queues[best][0]
	queues[best] = queues[best][1:]
	return it, true
}

// item redacts a record and gives it its time, which never goes back within
// a resource.
func (im *importer) item(r record) (it item, ok bool, err error) {
	if r.typ == "ERROR" || isSecret(r.res) {
		return it, false, nil // counted by the first reading
	}
	q, err := im.plan.find(r.res)
	if err != nil {
		return it, false, err
	}
	it = item{q: q, n: r.n, typ: r.typ}
	var when time.Time
	switch r.typ {
	case refusal:
		it.said = bytes.Clone(r.object)
	case listBegin, listEnd, "BOOKMARK":
		it.version = rawjson.Text(r.object, "metadata", "resourceVersion")
	default:
		if im.plan.derived {
			when = newestTime(r.object)
		}
		raw, err := im.redactor.Redact(q.res, r.object)
		if err != nil {
			return it, false, err
		}
		it.raw = bytes.Clone(raw)
	}
	if !im.plan.derived {
		when = r.arrived
	}
	it.at = im.newest[q]
	if !when.IsZero() {
		it.at = max(it.at, when.Sub(im.plan.start))
	}
	im.newest[q] = it.at
	return it, true, nil
}

// arrive puts an item where it belongs: in a list under way, after the lists
// that the dump began with, or on the tape.
func (im *importer) arrive(it item) error {
	i := im.next[it.q]
	if it.said == nil && i < len(it.q.spans) && it.n >= it.q.spans[i].first {
		s := it.q.spans[i]
		if it.raw != nil {
			im.listed[it.q] = append(im.listed[it.q], it.raw)
		}
		if it.n < s.last {
			return nil
		}
		im.next[it.q]++
		if s.opening {
			im.opening--
			return im.begin()
		}
		if im.begun {
			return im.list(it, s)
		}
		it.typ, it.raw = listEnd, nil
	}
	if !im.begun {
		im.held = append(im.held, it)
		return nil
	}
	return im.deliver(it)
}

// begin writes the lists that the dump began with, once they are complete,
// and what came among them.
func (im *importer) begin() error {
	if im.opening > 0 || im.begun {
		return nil
	}
	im.begun = true
	tracks := im.sequencer.states
	raws, lists, versions := make([][][]byte, len(tracks)), make([][]*object, len(tracks)), make([]string, len(tracks))
	for i, q := range im.plan.resources {
		if len(q.spans) > 0 && q.spans[0].opening {
			versions[i] = listVersion(q.spans[0], im.listed[q])
			raws[i] = once(tracks[i], im.listed[q])
			delete(im.listed, q)
		}
	}
	im.sequencer.loadAll(lists, raws)
	if err := im.sequencer.begin(lists, versions); err != nil {
		return err
	}
	held := im.held
	im.held = nil
	for _, it := range held {
		if err := im.deliver(it); err != nil {
			return err
		}
	}
	return nil
}

// listVersion is where a list was taken, or the highest version in it.
func listVersion(s span, items [][]byte) string {
	version := s.version
	if version == "" {
		for _, raw := range items {
			version = highest(text(identify(raw).version), version)
		}
	}
	return version
}

// once leaves of the objects of one name the last: a list is one state, whatever
// a dump puts into it.
func once(t *resourceState, items [][]byte) [][]byte {
	at := map[string]int{}
	kept := items[:0]
	for _, raw := range items {
		id := identify(raw)
		name := text(id.ns) + "/" + text(id.name)
		if i, again := at[name]; again {
			kept[i] = raw
			t.stats.Repeats++
			continue
		}
		at[name] = len(kept)
		kept = append(kept, raw)
	}
	return kept
}

// list writes a list that came later: the first one of its resource, or one
// that shows what was missed.
func (im *importer) list(it item, s span) error {
	at := im.now(it)
	t := im.states[it.q]
	items := im.listed[it.q]
	delete(im.listed, it.q)
	version := highest(listVersion(s, items), t.read)
	items = once(t, items)
	if s.initial {
		return im.sequencer.late(at, t, items, version)
	}
	if err := im.sequencer.lost(at, t, "the dump lists again here"); err != nil {
		return err
	}
	here := map[string]bool{}
	for _, raw := range items {
		here[idOf(identify(raw))] = true
	}
	return im.sequencer.relisted(at, t, here, items, version)
}

func (im *importer) now(it item) time.Duration {
	im.last = max(im.last, it.at)
	return im.last
}

// deliver takes an item that is in no list to the tape.
func (im *importer) deliver(it item) error {
	at, t := im.now(it), im.states[it.q]
	if err := im.sequencer.tick(at); err != nil {
		return err
	}
	switch it.typ {
	case listEnd:
		return im.list(it, it.q.spans[im.next[it.q]-1])
	case listBegin:
		return nil
	case refusal:
		return im.sequencer.refused(at, t, it.said)
	case "BOOKMARK":
		return im.sequencer.bookmark(at, t, it.version)
	}
	return im.sequencer.change(at, t, timeline.Type(it.typ), it.raw)
}

// leftOut tells what of the dump is not on the tape.
func (im *importer) leftOut() []string {
	lines := leftOut(im.sequencer.stats().Resources)
	for _, c := range []struct {
		n    int64
		text string
	}{
		{int64(im.plan.secrets), "secrets: %d events of Secrets, which are never recorded"},
		{int64(im.plan.errors), "%d ERROR events: what a server told the watcher, not the watched"},
		{im.plan.torn, "the last %d bytes: a value that was cut off; the tape has no END"},
	} {
		if c.n > 0 {
			lines = append(lines, fmt.Sprintf(c.text, c.n))
		}
	}
	return lines
}
