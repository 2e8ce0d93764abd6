package invariant_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/timeline"
)

// tape is a sound tape in memory, of which a test damages one thing.
type tape struct {
	t      *testing.T
	header *timeline.Header
	events []timeline.Event
	opts   invariant.CheckOptions
}

type readTape func() (*timeline.Header, []timeline.Event, error)

// Real rolls, recorded from a control plane with kwok for the kubelets.
var recorded = map[string]readTape{"surge": readOnce("surge"), "vanish": readOnce("spot-vanish")}

func readOnce(name string) readTape {
	type read struct {
		header *timeline.Header
		events []timeline.Event
	}
	once := sync.OnceValues(func() (all read, err error) {
		r, err := timeline.Open(filepath.Join("..", "..", "examples", name+".yaml"))
		if err != nil {
			return all, err
		}
		all.header = r.Header()
		for ev, err := range r.All() {
			if err != nil {
				return all, err
			}
			all.events = append(all.events, ev)
		}
		return all, r.Close()
	})
	return func() (*timeline.Header, []timeline.Event, error) {
		all, err := once()
		return all.header, slices.Clone(all.events), err
	}
}

// open returns a tape to damage, taken as one of the whole cluster: the group of
// the examples is all that there was.
func open(t *testing.T, name string) *tape {
	t.Helper()
	header, events, err := recorded[name]()
	if err != nil {
		t.Fatal(err)
	}
	opts := inspect.CheckOptions(header)
	opts.Partial = false
	return &tape{t, header, events, opts}
}

func (p *tape) check() (all []invariant.Violation) {
	c := inspect.NewChecker(p.header, p.opts)
	for i, ev := range p.events {
		all = append(all, c.Observe(ev, i+1)...)
	}
	return append(all, c.End()...)
}

type object = map[string]any

// each damages the states of an object from a position on. A name that ends in
// "*" means all that begin so.
func (p *tape) each(resource, name string, from time.Duration, damage func(object)) *tape {
	p.t.Helper()
	return p.damage(resource, name, from, len(p.events), damage)
}

// one damages the first state of an object from a position on.
func (p *tape) one(resource, name string, from time.Duration, damage func(object)) *tape {
	p.t.Helper()
	return p.damage(resource, name, from, 1, damage)
}

func (p *tape) damage(resource, name string, from time.Duration, most int, damage func(object)) *tape {
	p.t.Helper()
	n := 0
	for i := range p.events {
		ev := &p.events[i]
		if n == most || !p.is(ev, resource, name, from) || ev.Object == nil {
			continue
		}
		n++
		var o object
		if err := json.Unmarshal(ev.Object, &o); err != nil {
			p.t.Fatal(err)
		}
		damage(o)
		raw, err := json.Marshal(o)
		if err != nil {
			p.t.Fatal(err)
		}
		ev.Object = raw
	}
	if n == 0 {
		p.t.Fatalf("no %s/%s from %s on: nothing to damage", resource, name, from)
	}
	return p
}

func (p *tape) is(ev *timeline.Event, resource, name string, from time.Duration) bool {
	prefix, any := strings.CutSuffix(name, "*")
	return ev.Resource == resource && ev.At >= from && (ev.Name == name || any && strings.HasPrefix(ev.Name, prefix))
}

// line damages the first line of an object from a position on, not its state.
func (p *tape) line(resource, name string, from time.Duration, damage func(*timeline.Event)) *tape {
	p.t.Helper()
	for i := range p.events {
		if p.is(&p.events[i], resource, name, from) {
			damage(&p.events[i])
			return p
		}
	}
	p.t.Fatalf("no %s/%s from %s on: nothing to damage", resource, name, from)
	return p
}

// drop takes the lines of an object away.
func (p *tape) drop(resource, name string, from time.Duration) *tape {
	p.t.Helper()
	before := len(p.events)
	p.events = slices.DeleteFunc(p.events, func(ev timeline.Event) bool { return p.is(&ev, resource, name, from) })
	if len(p.events) == before {
		p.t.Fatalf("no %s/%s from %s on: nothing to drop", resource, name, from)
	}
	return p
}

// again repeats the last line of an object before a position there, changed.
func (p *tape) again(resource, name string, at time.Duration, change func(*timeline.Event)) *tape {
	p.t.Helper()
	for _, ev := range slices.Backward(p.events) {
		if ev.At <= at && p.is(&ev, resource, name, 0) {
			ev.At = at
			if change != nil {
				change(&ev)
			}
			p.insert(ev)
			return p
		}
	}
	p.t.Fatalf("no %s/%s before %s", resource, name, at)
	return p
}

// move puts the first line of an object from a position on somewhere else.
func (p *tape) move(resource, name string, from, to time.Duration) *tape {
	p.t.Helper()
	i := slices.IndexFunc(p.events, func(ev timeline.Event) bool { return p.is(&ev, resource, name, from) })
	if i < 0 {
		p.t.Fatalf("no %s/%s from %s on: nothing to move", resource, name, from)
	}
	ev := p.events[i]
	p.events = slices.Delete(p.events, i, i+1)
	ev.At = to
	p.insert(ev)
	return p
}

func (p *tape) insert(ev timeline.Event) {
	i := 0
	for i < len(p.events) && p.events[i].At <= ev.At {
		i++
	}
	p.events = slices.Insert(p.events, i, ev)
}

// goOn lets the tape continue quietly.
func (p *tape) goOn(until time.Duration) *tape {
	for at := p.events[len(p.events)-1].At; at < until; at += 4 * time.Second {
		p.insert(timeline.Event{At: at, Type: timeline.Sync, Resource: noderoll.Pods})
	}
	return p
}

// in walks into an object: by name, by index, or to the element whose type, key
// or name is given.
func in(at any, path ...string) object {
	for _, step := range path {
		switch here := at.(type) {
		case object:
			at = here[step]
		case []any:
			at = element(here, step)
		}
	}
	o, ok := at.(object)
	if !ok {
		panic("no object at " + strings.Join(path, "."))
	}
	return o
}

func element(all []any, step string) any {
	if i, err := strconv.Atoi(step); err == nil && i < len(all) {
		return all[i]
	}
	for _, e := range all {
		if o, ok := e.(object); ok && (o["type"] == step || o["key"] == step || o["name"] == step) {
			return e
		}
	}
	return nil
}

// set returns a damage that sets one member; nil takes it away.
func set(value any, path ...string) func(object) {
	return func(o object) {
		to := in(o, path[:len(path)-1]...)
		if value == nil {
			delete(to, path[len(path)-1])
			return
		}
		to[path[len(path)-1]] = value
	}
}

func all(damages ...func(object)) func(object) {
	return func(o object) {
		for _, d := range damages {
			d(o)
		}
	}
}

// brokenBy names those of the invariants that are broken, each once.
func brokenBy(found []invariant.Violation) []string {
	set := map[string]bool{}
	for _, v := range found {
		set[v.Invariant] = true
	}
	return slices.Sorted(maps.Keys(set))
}
