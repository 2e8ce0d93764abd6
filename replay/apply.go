package replay

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Apply moves the cluster on by one event, with its whole object. It reports
// whether anything that a client can see has changed: events of an initial
// list, and those between a GAP and its SYNC, take effect with the event that
// ends the block.
//
// An event that can't be (an object modified that isn't alive, one added that
// is, a version that is no integer, a time that goes back) is an *EventError and
// changes nothing. MARK, REFUSED, END and unknown types only move the time.
//
// An ADDED or MODIFIED event without a version gets its object's, or else the
// one after the newest of its resource. So does a DELETED outside of a GAP.
func (c *Cluster) Apply(ev timeline.Event) (changed bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ev.At < c.at {
		return false, &EventError{Event: ev, Found: "goes back in time", Wanted: "a position of " + seconds(c.at) + " or later"}
	}
	if ev.At > c.at {
		changed = c.settle()
		changed = c.pass(ev.At) || changed
		c.at = ev.At
	}
	take := c.one
	if c.faultInjector != nil {
		take = c.applyInjected
	}
	did, err := take(ev)
	return changed || did, err
}

// whole returns the object of an event that has a patch of the living version
// instead, with the event's version; nil where the event has neither.
func (c *Cluster) whole(ev *timeline.Event) []byte {
	if ev.Object != nil || ev.Patch == nil {
		return ev.Object
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.named(ev.Resource)
	if k == nil {
		return nil
	}
	alive := k.objects[name{ev.Namespace, ev.Name}]
	if k.phase == listing { // which the event ends
		alive = k.block.get(name{ev.Namespace, ev.Name})
	}
	if alive == nil {
		return nil
	}
	c.patched = rawjson.Apply(c.patched[:0], alive.raw, ev.Patch)
	if v, ok := parseVersion(ev.RV); ok { // object would copy it again, to stamp it
		return stamp(c.patched, addVersions(v, c.base))
	}
	return bytes.Clone(c.patched)
}

// accepts is the error of an event that can't be.
func (c *Cluster) accepts(ev timeline.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.named(ev.Resource)
	if k == nil {
		return &EventError{Event: ev, Found: "unknown resource", Wanted: c.names()}
	}
	_, err := k.check(ev)
	return err
}

// objectOf returns the object that an event is about, nil where there is none.
func (c *Cluster) objectOf(ev timeline.Event) *Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.named(ev.Resource).objects[name{ev.Namespace, ev.Name}]
}

// gone returns the last state of an object that was deleted, under the deletion's version.
func (c *Cluster) gone(last *Object, rv string) *Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := parseVersion(rv); ok {
		return last.at(addVersions(v, c.base))
	}
	return last
}

// one applies an event at the present moment.
func (c *Cluster) one(ev timeline.Event) (changed bool, err error) {
	if !ev.Type.Object() && ev.Type != timeline.Sync && ev.Type != timeline.Gap {
		return false, nil
	}
	k := c.named(ev.Resource)
	if k == nil {
		return false, &EventError{Event: ev, Found: "unknown resource", Wanted: c.names()}
	}
	return c.apply(k, ev)
}

// Settle ends the initial lists that no SYNC has ended: a hand-written tape
// may do without. Apply does so by itself when the tape's time moves on; a
// player that waits before it does says so with Settle.
func (c *Cluster) Settle() (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settle()
}

func (c *Cluster) settle() (changed bool) {
	for _, k := range c.open {
		if k.phase == listing {
			c.commitList(k, "")
			changed = true
		}
	}
	c.open = c.open[:0]
	return changed
}

func (c *Cluster) apply(k *kind, ev timeline.Event) (changed bool, err error) {
	if k.phase == listing && ev.Type != timeline.Added && ev.Type != timeline.Sync {
		c.commitList(k, "")
		changed = true
	}
	switch ev.Type {
	case timeline.Sync:
		did, err := c.sync(k, ev)
		return changed || did, err
	case timeline.Gap:
		if k.phase != gap {
			k.phase, k.block = gap, newBlock(k.objects)
		}
		return changed, nil
	}
	state, err := k.check(ev)
	if err != nil {
		return changed, err
	}
	o, err := c.object(k, state, ev)
	if err != nil {
		return changed, err
	}
	switch k.phase {
	case fresh:
		k.phase, k.block = listing, newBlock(k.objects)
		c.open = append(c.open, k)
		fallthrough
	case listing, gap:
		k.block.put(ev, o)
		return changed, nil
	}
	c.publish(k, watch.EventType(ev.Type), o)
	if c.holding {
		k.held = true
	} else {
		k.wake()
	}
	return true, nil
}

// check checks an object event against what is alive, and returns that.
func (k *kind) check(ev timeline.Event) (alive *Object, err error) {
	if k.phase == listing || k.phase == gap {
		alive = k.block.get(name{ev.Namespace, ev.Name})
	} else {
		alive = k.objects[name{ev.Namespace, ev.Name}]
	}
	switch {
	case ev.Name == "":
		return nil, &EventError{Event: ev, Found: "no name", Wanted: "the object's name"}
	case ev.Type != timeline.Deleted && !rawjson.IsObject(ev.Object):
		return nil, &EventError{Event: ev, Found: "no object", Wanted: "the whole object as JSON"}
	case ev.Type == timeline.Added && alive != nil:
		return nil, &EventError{Event: ev, Found: "is alive already (uid " + string(alive.uid) + ")", Wanted: "its DELETED before"}
	case ev.Type != timeline.Added && alive == nil:
		return nil, &EventError{Event: ev, Found: "is not alive", Wanted: "its ADDED before"}
	case ev.Type != timeline.Added && ev.UID != "" && alive.uid != "" && string(alive.uid) != ev.UID:
		return nil, &EventError{Event: ev, Found: fmt.Sprintf("has uid %s, and uid %s is alive", ev.UID, alive.uid), Wanted: "DELETED of the old one and ADDED of the new one"}
	}
	return alive, nil
}

// object makes the state that an event brings, its version stamped. A
// deletion found by listing again has no version yet.
func (c *Cluster) object(k *kind, alive *Object, ev timeline.Event) (*Object, error) {
	o := &Object{namespace: ev.Namespace, name: ev.Name, uid: types.UID(ev.UID), raw: ev.Object}
	if alive != nil {
		o.key = alive.key
		if o.uid == "" {
			o.uid = alive.uid
		}
		if o.raw == nil {
			o.raw = alive.raw // a DELETED without a last state
		}
	} else {
		o.key = ev.Namespace + "/" + ev.Name
		if o.uid == "" {
			o.uid = types.UID(rawjson.Text(ev.Object, "metadata", "uid"))
		}
	}
	rv := ev.RV
	if rv == "" && ev.Type != timeline.Deleted {
		rv = rawjson.Text(ev.Object, "metadata", "resourceVersion")
	}
	if rv == "" {
		if ev.Type == timeline.Deleted && k.phase == gap {
			return o, nil
		}
		o.version = addVersions(k.newest(c.base), "1")
		o.raw = stamp(o.raw, o.version)
		return o, nil
	}
	v, ok := parseVersion(rv)
	if !ok {
		return nil, &EventError{Event: ev, Found: fmt.Sprintf("resourceVersion %q", rv), Wanted: "a decimal integer, or none"}
	}
	o.version = addVersions(v, c.base)
	if !stamped(o.raw, o.version) {
		o.raw = stamp(o.raw, o.version)
	}
	return o, nil
}

// newest is the highest version known of the resource, open blocks included.
func (k *kind) newest(base string) string {
	v := k.log.high
	if k.block != nil && compareVersions(k.block.high, v) > 0 {
		v = k.block.high
	}
	if v == "" {
		return addVersions(origin, base)
	}
	return v
}

// publish changes the state and appends to the history.
func (c *Cluster) publish(k *kind, what watch.EventType, o *Object) {
	id := name{o.namespace, o.name}
	prev := k.objects[id]
	k.log.append(what, o.version, o, prev)
	if prev != nil {
		c.bytes -= len(prev.raw)
		c.objects--
	}
	if what == watch.Deleted {
		delete(k.objects, id)
	} else {
		k.objects[id] = o
		c.bytes += len(o.raw)
		c.objects++
	}
	k.resort(what, o)
	if k.log.total%chunkSize == 0 && c.maxLag > 0 {
		c.endLaggards(k)
	}
}

// sync ends a block, or passes a bookmark on.
func (c *Cluster) sync(k *kind, ev timeline.Event) (changed bool, err error) {
	version := ""
	if ev.RV != "" {
		v, ok := parseVersion(ev.RV)
		if !ok {
			return false, &EventError{Event: ev, Found: fmt.Sprintf("resourceVersion %q", ev.RV), Wanted: "a decimal integer"}
		}
		version = addVersions(v, c.base)
	}
	switch k.phase {
	case fresh:
		k.block = newBlock(k.objects)
		c.commitList(k, version)
	case listing:
		c.open = slices.DeleteFunc(c.open, func(o *kind) bool { return o == k })
		c.commitList(k, version)
	case gap:
		c.commitGap(k, version)
	default:
		if version == "" || !c.bookmark(k, version) {
			return false, nil
		}
		k.wake()
	}
	return true, nil
}

// bookmark appends a SYNC where it says something new. After an object that
// came late it doesn't repeat the newest version: that represents the moment
// before the late one.
func (c *Cluster) bookmark(k *kind, version string) bool {
	if n := compareVersions(version, k.log.high); n < 0 || n == 0 && k.log.last != version {
		return false
	}
	k.log.append(watch.Bookmark, version, bookmarkOf(k.resource, version), nil)
	return true
}
