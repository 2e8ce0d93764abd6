package auditlog

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// Report is what a log was, and what it couldn't tell.
type Report struct {
	Format  string
	LeftOut []string
	// Torn is how many bytes at the end were no whole value.
	Torn int64
}

// converter collects what matters of a log, and writes it in order.
type converter struct {
	resources []*resource
	spool     *spool
	format    string
	requests  int
	others    int             // entries that are none of an audit log
	said      map[string]bool // requests without a version that were seen, by their audit IDs
	start     int64
	out       *bufio.Writer
}

// Convert reads an audit log and writes the dump. Nothing of use is written where it returns an
// error.
func Convert(ctx context.Context, in io.Reader, out io.Writer) (Report, error) {
	s, err := newSpool()
	if err != nil {
		return Report{}, err
	}
	defer s.close()
	c := &converter{resources: taken(), spool: s, said: map[string]bool{}, start: never, out: bufio.NewWriterSize(out, 256<<10)}
	torn, err := newStream(in).each(func(m members) error {
		if c.requests%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return c.collect(m)
	})
	if err != nil {
		return Report{}, err
	}
	if c.requests == 0 {
		return Report{}, errors.New("found no audit event: want lines of audit.k8s.io/v1 with the stage ResponseComplete")
	}
	if err := s.done(); err != nil {
		return Report{}, err
	}
	r := Report{Format: c.format, Torn: torn}
	counted, err := c.write(ctx)
	if err == nil {
		err = c.out.Flush()
	}
	r.LeftOut = c.leftOut(counted)
	return r, err
}

// collect takes in one entry of the log.
func (c *converter) collect(m members) error {
	ev, format, err := unwrap(m)
	if err != nil {
		return err
	}
	if ev == nil {
		c.others++
		return nil
	}
	if ev.Stage == "ResponseComplete" {
		c.requests++
	}
	c.format = format
	at := ev.at().UnixNano()
	if ev.at().IsZero() {
		return errors.New("found an audit event without a time")
	}
	c.start = min(c.start, at)
	i := slices.IndexFunc(c.resources, func(r *resource) bool {
		return r.group == ev.ObjectRef.APIGroup && r.plural == ev.ObjectRef.Resource
	})
	if i < 0 {
		return nil
	}
	r := c.resources[i]
	all, why := classify(ev, r)
	if why != "" {
		r.lose(why)
	}
	for _, f := range all {
		if err := c.take(r, f, ev); err != nil {
			return err
		}
	}
	return nil
}

// take keeps what a request says of an object.
func (c *converter) take(r *resource, f found, ev *event) error {
	at := ev.at().UnixNano()
	e := entry{at: at, received: at, answered: at, op: f.op, name: f.name, undo: f.undo}
	if !ev.Received.IsZero() {
		e.received = min(at, ev.Received.UnixNano())
	}
	if f.op.hasState() {
		version := rawjson.Text(f.body, "apiVersion")
		if r.version == "" {
			r.version = version
		}
		if version != r.version {
			r.lose("answers in another version than " + r.version + ":")
			return nil
		}
		e.version, _ = strconv.ParseUint(rawjson.Text(f.body, "metadata", "resourceVersion"), 10, 63)
		if e.version == 0 { // none that a server would send
			return nil
		}
	} else if key := ev.AuditID + " " + f.name; ev.AuditID != "" {
		if c.said[key] {
			return nil
		}
		c.said[key] = true
	}
	var err error
	e.body, err = c.spool.put(f.body)
	r.entries = append(r.entries, e)
	return err
}

// write orders everything and writes it. Where there aren't enough versions for what has
// none in the log, all are counted.
func (c *converter) write(ctx context.Context) (counted bool, err error) {
	type ref struct {
		r *resource
		e *entry
	}
	var all []ref
	for _, r := range c.resources {
		counted = !r.order() && len(r.entries) > 0 || counted
		for i := range r.entries {
			all = append(all, ref{r, &r.entries[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b ref) int { return cmp.Compare(a.e.at, b.e.at) })
	states := map[*resource]map[string][]byte{}
	for _, r := range c.resources {
		if len(r.entries) == 0 {
			continue
		}
		if counted {
			r.list = 1
		}
		if states[r], err = c.begin(r, r.list); err != nil {
			return counted, err
		}
	}
	shown := map[*entry]*entry{} // the next state of what a request began to delete
	next := map[string]*entry{}
	for _, at := range slices.Backward(all) {
		switch key := at.r.plural + " " + at.e.name; {
		case at.e.op.hasState():
			next[key] = at.e
		case at.e.op == opEvicted || at.e.op == opGraceful:
			shown[at.e] = next[key]
		}
	}
	for i, at := range all {
		if i%1000 == 0 && ctx.Err() != nil {
			return counted, context.Cause(ctx)
		}
		body, err := c.spool.get(at.e.body)
		if err != nil {
			return counted, err
		}
		if at.e.op == opRefused {
			c.line(at.e.at, at.r.plural, "refused", body)
			continue
		}
		if later := shown[at.e]; later != nil {
			state, err := c.spool.get(later.body)
			if err != nil {
				return counted, err
			}
			body = asShown(body, states[at.r][at.e.name], state)
		}
		if counted {
			at.e.version, at.e.twice = uint64(i)*2+2, true
		}
		c.change(at.r, at.e, states[at.r], body)
	}
	return counted, nil
}

// begin writes the list of what was there when the log began: what it doesn't show the creation
// of, as it was before the first request that it shows.
func (c *converter) begin(r *resource, version uint64) (map[string][]byte, error) {
	states, undos, seen := map[string][]byte{}, map[string]undo{}, map[string]bool{}
	for i := range r.entries {
		e := &r.entries[i]
		if seen[e.name] || e.op == opRefused {
			continue
		}
		if e.op == opEvicted || e.op == opGraceful || e.op == opDeleted {
			undos[e.name] |= undoDelete
		}
		if e.body.n == 0 || !e.op.hasState() && e.op != opFinal {
			continue
		}
		seen[e.name] = true
		body, err := c.spool.get(e.body)
		if err != nil {
			return nil, err
		}
		created, err := time.Parse(time.RFC3339, rawjson.Text(body, "metadata", "creationTimestamp"))
		if e.op == opCreated || err == nil && created.UnixNano() > c.start {
			continue
		}
		if r.version == "" {
			r.version = rawjson.Text(body, "apiVersion")
		}
		body = stamped(before(body, e.undo|undos[e.name]), version)
		states[e.name] = body
		c.event(c.start, r, "ADDED", body)
	}
	if r.version == "" {
		return states, nil // nothing but requests
	}
	c.event(c.start, r, "BOOKMARK", fmt.Appendf(nil,
		`{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"%d","annotations":{"k8s.io/initial-events-end":"true"}}}`, r.kind, r.version, version))
	return states, nil
}

// change writes what an entry does to its object.
func (c *converter) change(r *resource, e *entry, states map[string][]byte, body []byte) {
	was, version := states[e.name], e.version
	ch := apply(e, was, body)
	if ch.why != "" {
		r.lose(ch.why)
	}
	if ch.typ == "" {
		return
	}
	if e.twice && ch.first != nil && was != nil {
		c.event(e.at, r, "MODIFIED", stamped(ch.first, version))
		version++
	}
	now := stamped(ch.object, version)
	if ch.typ == "MODIFIED" && string(stamped(was, version)) == string(now) {
		return
	}
	if ch.typ == "DELETED" {
		delete(states, e.name)
		if was == nil {
			return
		}
	} else {
		states[e.name] = now
	}
	c.event(e.at, r, ch.typ, now)
}

func stamped(object []byte, version uint64) []byte {
	return rawjson.Apply(nil, object, fmt.Appendf(nil, `{"metadata":{"resourceVersion":"%d"}}`, version))
}

func (c *converter) event(at int64, r *resource, typ string, object []byte) {
	c.line(at, r.plural, "event", fmt.Appendf(nil, `{"type":%q,"object":%s}`, typ, object))
}

// line writes a line of the dump; what fails shows at the end.
func (c *converter) line(at int64, plural, member string, body []byte) {
	_, _ = fmt.Fprintf(c.out, `{"t":%q,"resource":%q,%q:%s}`+"\n", time.Unix(0, at).UTC().Format(time.RFC3339Nano), plural, member, body)
}

// leftOut tells what the log couldn't.
func (c *converter) leftOut(counted bool) []string {
	var lines []string
	for _, r := range c.resources {
		for _, why := range slices.Sorted(maps.Keys(r.lost)) {
			lines = append(lines, fmt.Sprintf("%s: %s (%d)", r.key(), why, r.lost[why]))
		}
	}
	if c.others > 0 {
		lines = append(lines, fmt.Sprintf("%d entries of other logs", c.others))
	}
	if counted {
		lines = append(lines, "resourceVersions: some changes have none in the log, so all are counted on the tape")
	}
	return lines
}
