package replay

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// State is a moment of a cluster, kept to come back to: a keyframe. It shares
// the objects with the cluster and can be used any number of times.
type State struct {
	at    time.Duration
	base  string
	kinds []kindState
	bytes int // of the objects' text
}

type kindState struct {
	objects []*Object
	phase   phase
	block   *block
	version string // high, the newest
	floor   string
}

// At is the moment's position on the tape.
func (s *State) At() time.Duration { return s.at }

// Objects counts the objects that the state holds on to.
func (s *State) Objects() (n int) {
	for _, k := range s.kinds {
		n += len(k.objects)
	}
	return n
}

// State keeps the present moment.
func (c *Cluster) State() *State {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s := &State{at: c.at, base: c.base}
	for _, k := range c.kinds {
		for _, o := range k.objects {
			s.bytes += len(o.raw)
		}
		s.kinds = append(s.kinds, kindState{
			objects: slices.Collect(maps.Values(k.objects)), phase: k.phase, block: k.block.clone(k.objects),
			version: k.log.high, floor: k.log.floor,
		})
	}
	return s
}

func (b *block) clone(before map[name]*Object) *block {
	if b == nil {
		return nil
	}
	return &block{
		before: before, after: maps.Clone(b.after), gone: maps.Clone(b.gone),
		order: append([]name(nil), b.order...), high: b.high,
	}
}

// Rewind goes back to a state of this cluster, or to the empty beginning where
// s is nil. Every open watch gets what it hasn't read yet and then an ERROR
// event with 410 Expired, and older versions are 410 from now on.
//
// Versions continue from a higher base, so that no client sees one twice with
// different contents: a base is the smallest number above every version
// handed out so far that ends in more zeros than a recorded version had digits,
// and from now on a recorded version v reads base+v, in lists, in events and inside of objects (after
// 98143 the version 512 becomes 100512). The state that was gone back to
// counts as one moment, at the base plus its newest version.
func (c *Cluster) Rewind(s *State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	top := addVersions(origin, c.base)
	for _, k := range c.kinds {
		if compareVersions(k.log.high, top) > 0 {
			top = k.log.high
		}
	}
	c.base = baseAbove(top, c.base)
	c.at, c.open = 0, nil
	if s != nil {
		c.at = s.at
	}
	for i, k := range c.kinds {
		old := k.log
		k.log = newLog(c.history, c.mostBytes)
		k.objects, k.sorted, k.phase, k.block, k.seen = map[name]*Object{}, nil, fresh, nil, false
		k.log.floor = addVersions(origin, c.base)
		if s != nil {
			k.restore(s.kinds[i], s.base, c.base)
			if k.phase == listing {
				c.open = append(c.open, k)
			}
		}
		old.append(watch.Error, "", nil, nil)
		k.wake()
	}
	if c.faultInjector != nil {
		c.faultInjector.Rewound()
	}
}

// restore takes a state over, its versions moved from one base to another.
func (k *kind) restore(s kindState, from, to string) {
	move := func(o *Object) *Object {
		if o == nil || o.version == "" {
			return o
		}
		return o.at(addVersions(recorded(o.version, from), to))
	}
	for _, o := range s.objects {
		k.objects[name{o.namespace, o.name}] = move(o)
	}
	k.phase = s.phase
	if s.block != nil {
		k.block = s.block.clone(k.objects)
		for id, o := range k.block.after {
			k.block.after[id] = move(o)
		}
		for id, o := range k.block.gone {
			k.block.gone[id] = move(o)
		}
		if k.block.high != "" {
			k.block.high = addVersions(recorded(k.block.high, from), to)
		}
	}
	if s.version != "" {
		v := addVersions(recorded(s.version, from), to)
		k.log.append(watch.Bookmark, v, bookmarkOf(k.resource, v), nil)
		k.log.floor = v
	}
}

// recorded takes the base off a version.
func recorded(v, base string) string {
	if base == "" {
		return v
	}
	return subVersions(v, base)
}
