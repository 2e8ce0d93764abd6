package replay

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/watch"
)

// told notes that a client knows the time before the first list.
func (k *kind) told() {
	if k.log.last == "" {
		k.sorting.Lock()
		k.seen = true
		k.sorting.Unlock()
	}
}

// version returns what a list is stamped with now.
func (k *kind) version(base string) string {
	if k.log.last == "" {
		return addVersions(origin, base)
	}
	return k.log.last
}

// uncached reports whether kube-apiserver keeps the resource in etcd alone, without a watch cache: Events (its
// pkg/kubeapiserver/default_storage_factory_builder.go).
func (k *kind) uncached() bool { return k.resource.Resource == "events" }

// reachable reports whether a version can be one: a server's are integers below 2^64, and so are a tape's, but for what
// many rewinds may make of them.
func (k *kind) reachable(v, base string) bool {
	_, err := strconv.ParseUint(v, 10, 64)
	return err == nil || !k.future(v, base)
}

func (k *kind) future(v, base string) bool {
	high := k.log.high
	if high == "" {
		high = addVersions(origin, base)
	}
	return compareVersions(v, high) > 0
}

// inOrder returns what is alive, by key. The slice must not be written to.
func (k *kind) inOrder() []*Object {
	k.sorting.Lock()
	defer k.sorting.Unlock()
	if k.sorted == nil {
		k.sorted = inOrder(k.objects)
	}
	return k.sorted
}

// resortable is the number of objects that may be moved to keep the order; with more,
// sorting again for the next list is the cheaper way.
const resortable = 4096

// resort keeps the sorted objects, where there are any, in step with a change.
// The cluster's lock is held, so that no watch reads them.
func (k *kind) resort(what watch.EventType, o *Object) {
	if k.sorted == nil {
		return
	}
	i, found := slices.BinarySearchFunc(k.sorted, o.key, func(o *Object, key string) int { return strings.Compare(o.key, key) })
	switch {
	case found && what != watch.Deleted:
		k.sorted[i] = o
	case len(k.sorted) > resortable:
		k.sorted = nil
	case found:
		k.sorted = slices.Delete(k.sorted, i, i+1)
	case what != watch.Deleted:
		k.sorted = slices.Insert(k.sorted, i, o)
	}
}

func inOrder(objects map[name]*Object) []*Object {
	all := make([]*Object, 0, len(objects))
	for _, o := range objects {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *Object) int { return strings.Compare(a.key, b.key) })
	return all
}

// past returns what was alive at a moment, by undoing what has come since.
func (k *kind) past(from cursor) []*Object {
	if !from.more() {
		return k.inOrder()
	}
	then := maps.Clone(k.objects)
	undone := map[name]bool{}
	for e := from.next(); e != nil; e = from.next() {
		if e.object == nil || e.object.key == "" {
			continue // a bookmark
		}
		id := name{e.object.namespace, e.object.name}
		if undone[id] {
			continue // the first change since then knows what was before
		}
		undone[id] = true
		if e.prev == nil {
			delete(then, id)
		} else {
			then[id] = e.prev
		}
	}
	return inOrder(then)
}
