package replay

import (
	"slices"
	"strings"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
	"k8s.io/apimachinery/pkg/watch"
)

// block gathers what takes effect at once: an initial list, or what listing
// again has found after a GAP. However many events it takes on the tape, each
// object has one net change.
type block struct {
	before map[name]*Object // the state outside; not written to
	after  map[name]*Object // nil for a deleted object
	gone   map[name]*Object // the last state of what was alive before
	order  []name
	high   string
}

func newBlock(before map[name]*Object) *block {
	return &block{before: before, after: map[name]*Object{}, gone: map[name]*Object{}}
}

// get returns what is alive inside of the block.
func (b *block) get(id name) *Object {
	if o, ok := b.after[id]; ok {
		return o
	}
	return b.before[id]
}

func (b *block) put(ev timeline.Event, o *Object) {
	id := name{o.namespace, o.name}
	if _, ok := b.after[id]; !ok {
		b.order = append(b.order, id)
	}
	if compareVersions(o.version, b.high) > 0 {
		b.high = o.version
	}
	if ev.Type != timeline.Deleted {
		b.after[id] = o
		return
	}
	b.after[id] = nil
	if was := b.before[id]; was != nil && was.uid == o.uid {
		b.gone[id] = o
	}
}

// change is a net change. A deletion found by listing has no version until
// place gives it one.
type change struct {
	kind   watch.EventType
	object *Object
	under  string // a deletion has to come below this version: its name is used again
}

// changes returns the net changes, by version.
func (b *block) changes(end string) []change {
	var all []change
	for _, id := range b.order {
		was, is := b.before[id], b.after[id]
		switch {
		case was == nil && is == nil:
		case was == nil:
			all = append(all, change{watch.Added, is, ""})
		case is == nil:
			all = append(all, change{watch.Deleted, b.last(id, was), ""})
		case was.uid != is.uid:
			all = append(all, change{watch.Deleted, b.last(id, was), is.version}, change{watch.Added, is, ""})
		case was.version != is.version:
			all = append(all, change{watch.Modified, is, ""})
		}
	}
	place(all, end)
	slices.SortStableFunc(all, func(a, b change) int {
		if n := compareVersions(a.object.version, b.object.version); n != 0 {
			return n
		}
		return strings.Compare(a.object.key, b.object.key)
	})
	return all
}

func (b *block) last(id name, was *Object) *Object {
	if o := b.gone[id]; o != nil {
		return o
	}
	return &Object{namespace: was.namespace, name: was.name, key: was.key, uid: was.uid, raw: was.raw}
}

// place gives each deletion that has no version the highest one below its
// bound that no other change uses. There is room on an honest tape, since each
// deletion took a revision of etcd; where there isn't, versions collide and a
// watch from them is answered with 410.
func place(all []change, end string) {
	used := map[string]bool{}
	for _, c := range all {
		used[c.object.version] = true
	}
	free := func(v string) string {
		for v != "" && used[v] {
			v = before(v)
		}
		return v
	}
	top := end
	for i := range all {
		c := &all[i]
		if c.object.version != "" {
			continue
		}
		var v string
		if c.under != "" {
			v = free(before(c.under))
		} else {
			v = free(top)
			top = v
		}
		if v == "" {
			v = end
		}
		used[v] = true
		c.object.version, c.object.raw = v, stamp(c.object.raw, v)
	}
}

// commitList ends the initial list at a version, or at its highest.
func (c *Cluster) commitList(k *kind, version string) {
	if version == "" {
		version = k.newest(c.base)
	}
	start := k.log.last
	for _, ch := range k.block.changes(version) {
		c.publish(k, ch.kind, ch.object)
	}
	k.phase, k.block = live, nil
	if compareVersions(version, k.log.high) >= 0 {
		k.log.append(watch.Bookmark, version, bookmarkOf(k.resource, version), nil)
	}
	k.log.floor = version
	if k.seen && start == "" && len(k.log.chunks) > 0 && k.log.chunks[0].first == 0 {
		// A client that listed before there was anything watches from its beginning.
		k.log.out[addVersions(origin, c.base)] = -1
	}
	k.wake()
}

// commitGap ends the block after a GAP at a version, or at its highest.
func (c *Cluster) commitGap(k *kind, version string) {
	if version == "" {
		version = k.newest(c.base)
	}
	first := k.log.last == ""
	for _, ch := range k.block.changes(version) {
		c.publish(k, ch.kind, ch.object)
	}
	k.phase, k.block = live, nil
	c.bookmark(k, version)
	if first {
		k.log.floor = version
	}
	k.wake()
}

// bookmarkOf makes the object of a BOOKMARK: the watched kind with a version
// and nothing else.
func bookmarkOf(r timeline.Resource, version string) *Object {
	return bookmarkWith(r, version, "")
}

func bookmarkWith(r timeline.Resource, version, annotation string) *Object {
	raw := append([]byte(nil), `{"kind":`...)
	raw = rawjson.AppendString(raw, r.Kind)
	raw = append(raw, `,"apiVersion":`...)
	raw = rawjson.AppendString(raw, r.APIVersion())
	raw = append(raw, `,"metadata":{"resourceVersion":`...)
	raw = rawjson.AppendString(raw, version)
	if annotation != "" {
		raw = append(raw, `,"annotations":{`...)
		raw = rawjson.AppendString(raw, annotation)
		raw = append(raw, `:"true"}`...)
	}
	raw = append(raw, `}}`...)
	return &Object{version: version, raw: raw}
}
