package recorder

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// record is one event of a dump.
type record struct {
	n       int       // position among the records
	arrived time.Time // zero where the dump doesn't say
	res     timeline.Resource
	typ     string // of a watch event, or one of those below
	object  []byte // canonical; good until the next record
	list    bool   // is in a List
}

// The types that the reader of a dump makes up: a List becomes listBegin, an
// ADDED for each item, and listEnd, whose object is the List's head.
const (
	listBegin = "LIST"
	listEnd   = "LISTED"
)

// refusal is the type of a record of an eviction that the server refused; its
// object is what the dump says of it.
const refusal = string(timeline.Refused)

// dump reads the records of a dump.
type dump struct {
	split   *splitter
	line    int   // where the present value begins
	offset  int64 // likewise
	compact []byte
	n       int
	torn    int64 // bytes of a last value that was cut off
}

func newDump(r io.Reader) *dump {
	s := newSplitter(r, 256<<10)
	s.lines = true
	return &dump{split: s}
}

// errorf puts the place before an error.
func (d *dump) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d (byte %d): %w", d.line, d.offset, fmt.Errorf(format, args...))
}

// each calls f for every record, in order.
func (d *dump) each(f func(record) error) error {
	for {
		d.split.space()
		d.line, d.offset = d.split.line, d.split.place()
		value, err := d.split.next()
		if err == nil {
			err = d.value(value, f)
			if err != nil {
				return err
			}
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			d.line, d.offset = d.split.line, d.split.place()
			d.torn = int64(d.split.to - d.split.from)
			return nil
		}
		d.line, d.offset = d.split.line, d.split.place()
		return d.errorf("%w", err)
	}
}

func (d *dump) value(value []byte, f func(record) error) (err error) {
	if d.compact, err = rawjson.Compact(d.compact[:0], value); err != nil {
		return d.errorf("in the value that begins here: %w", err)
	}
	v := d.compact
	switch {
	case rawjson.IsObject(rawjson.Get(v, "event")):
		return d.captured(v, f)
	case rawjson.IsObject(rawjson.Get(v, "refused")):
		return d.captured(v, f)
	case rawjson.IsObject(rawjson.Get(v, "object")):
		return d.event(v, record{}, f)
	case strings.HasSuffix(rawjson.Text(v, "kind"), "List") && rawjson.Get(v, "items") != nil:
		return d.items(v, f)
	case rawjson.Get(v, "kind") != nil && rawjson.Get(v, "metadata") != nil:
		return d.errorf("found a bare %s, want a watch event: without its type a deletion can't be told from a change; run kubectl with --output-watch-events", rawjson.Text(v, "kind"))
	}
	return d.errorf("found %.60q, want {\"t\",\"resource\",\"event\"}, {\"type\",\"object\"} or a List", v)
}

// captured is the form with arrival times.
func (d *dump) captured(v []byte, f func(record) error) error {
	r := record{}
	r.res.Resource = rawjson.Text(v, "resource")
	if t := rawjson.Text(v, "t"); t != "" {
		at, err := time.Parse(time.RFC3339Nano, t)
		if err != nil {
			return d.errorf("t %q: want RFC 3339, such as \"2026-11-20T22:21:09.113Z\"", t)
		}
		r.arrived = at
	}
	if said := rawjson.Get(v, "refused"); said != nil {
		if r.res.Resource != "pods" || rawjson.Text(said, "name") == "" {
			return d.errorf("refused: found resource %q and name %q, want pods and a name", r.res.Resource, rawjson.Text(said, "name"))
		}
		r.typ, r.object, r.res = refusal, said, timeline.Resource{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
		return d.pass(r, f)
	}
	return d.event(rawjson.Get(v, "event"), r, f)
}

// event is a watch event.
func (d *dump) event(v []byte, r record, f func(record) error) error {
	r.typ, r.object = rawjson.Text(v, "type"), rawjson.Get(v, "object")
	switch r.typ {
	case "ADDED", "MODIFIED", "DELETED", "BOOKMARK":
	case "ERROR":
		return d.pass(r, f)
	default:
		return d.errorf("type %q: want ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", r.typ)
	}
	if !rawjson.IsObject(r.object) {
		return d.errorf("%s: found %.40q, want an object", r.typ, r.object)
	}
	if err := d.resource(&r); err != nil {
		return err
	}
	return d.pass(r, f)
}

func (d *dump) pass(r record, f func(record) error) error {
	r.n = d.n
	d.n++
	if err := f(r); err != nil {
		return d.errorf("%w", err)
	}
	return nil
}

// resource derives the resource from the object.
func (d *dump) resource(r *record) error {
	kind, apiVersion := rawjson.Text(r.object, "kind"), rawjson.Text(r.object, "apiVersion")
	if kind == "" || apiVersion == "" {
		return d.errorf("%s: found an object without kind or apiVersion", r.typ)
	}
	r.res = resourceOf(kind, apiVersion, r.res.Resource)
	meta := rawjson.Get(r.object, "metadata")
	if rawjson.Get(meta, "namespace") != nil {
		r.res.Namespaced = true
	}
	if r.typ != "BOOKMARK" && (rawjson.Text(meta, "name") == "" || rawjson.Text(meta, "resourceVersion") == "") {
		return d.errorf("%s of a %s: found no metadata.name or no metadata.resourceVersion, want both", r.typ, kind)
	}
	return nil
}

// items takes a List apart. Those of kubectl hold several kinds, those of a
// server one, whose name is the List's.
func (d *dump) items(v []byte, f func(record) error) error {
	kind, _ := strings.CutSuffix(rawjson.Text(v, "kind"), "List")
	apiVersion := rawjson.Text(v, "apiVersion")
	var order []timeline.Resource
	mark := func(typ string, res timeline.Resource) error {
		return d.pass(record{typ: typ, res: res, object: v, list: true}, f)
	}
	if kind != "" {
		res := resourceOf(kind, apiVersion, "")
		order = append(order, res)
		if err := mark(listBegin, res); err != nil {
			return err
		}
	}
	for item := range rawjson.Elements(rawjson.Get(v, "items")) {
		if kind != "" && rawjson.Get(item, "kind") == nil && len(item) > 2 {
			item = appendNamed(nil, item, kind, apiVersion)
		}
		r := record{typ: "ADDED", object: item, list: true}
		if err := d.resource(&r); err != nil {
			return err
		}
		known := false
		for _, o := range order {
			known = known || sameResource(o, r.res)
		}
		if !known && len(order) == timeline.MaxMembers {
			return d.errorf("found a list of more than %d kinds, want at most so many", timeline.MaxMembers)
		}
		if !known {
			order = append(order, r.res)
			if err := mark(listBegin, r.res); err != nil {
				return err
			}
		}
		if err := d.pass(r, f); err != nil {
			return err
		}
	}
	for _, res := range order {
		if err := mark(listEnd, res); err != nil {
			return err
		}
	}
	return nil
}

func sameResource(a, b timeline.Resource) bool {
	return a.Group == b.Group && a.Resource == b.Resource
}
