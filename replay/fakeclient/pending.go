package fakeclient

import (
	"maps"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay"
)

// pending is what a reflector was given, by a list or a watch, and its store may not hold yet. Since 0.36 client-go's
// stores say which version they have (LastStoreSyncResourceVersion in tools/cache/store.go); before, what they hold is compared.
//
// An object that comes and goes between two calls of Settle isn't missed in the store, although its events may still be
// in the informer's queue.
type pending struct {
	mu       sync.Mutex
	versions map[string]string // by key; deleted for one that is gone
	whole    bool              // all of a list: the store holds nothing else
}

const deleted = "" // no object's version

type versionedStore interface{ LastStoreSyncResourceVersion() string }

// storesSayVersions is whether the client-go of this program is that new.
var _, storesSayVersions = cache.NewStore(cache.MetaNamespaceKeyFunc).(versionedStore)

func (p *pending) note(ev replay.Event) {
	if storesSayVersions || ev.Status != nil || ev.Type == watch.Bookmark {
		return
	}
	version := ev.Object.ResourceVersion()
	if ev.Type == watch.Deleted {
		version = deleted
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(ev.Object, version)
}

func (p *pending) put(o *replay.Object, version string) {
	if p.versions == nil {
		p.versions = map[string]string{}
	}
	p.versions[keyOf(o.Namespace(), o.Name())] = version
}

// in reports whether a store holds all of it.
func (p *pending) in(store cache.Store) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	objects := 0
	for key, version := range p.versions {
		if version != deleted {
			objects++
		}
		obj, held, err := store.GetByKey(key)
		if err != nil || held != (version != deleted) {
			return false
		}
		if has := versionOf(obj); held && has != version && has != "" { // "": transformed
			return false
		}
	}
	return !p.whole || len(store.ListKeys()) == objects
}

func (p *pending) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.versions)
	p.whole = false
}

// request is what a reflector lists and then watches.
type request struct {
	gvr                       schema.GroupVersionResource
	namespace, labels, fields string
}

func requestOf(gvr schema.GroupVersionResource, namespace string, o metav1.ListOptions) request {
	return request{gvr, namespace, o.LabelSelector, o.FieldSelector}
}

// given is what the next watch of a request begins with, where it begins at this version: a list, or what a watch that
// has ended gave since the last Settle.
type given struct {
	version  string
	versions map[string]string
	whole    bool
}

// noteList notes a list, or a page of it, for the watch that follows.
func (c *Client) noteList(r request, l *replay.List, opts metav1.ListOptions) {
	p := pending{whole: true}
	c.mu.Lock()
	defer c.mu.Unlock()
	if storesSayVersions || len(c.tracked) == 0 {
		return
	}
	if was := c.given[r]; opts.Continue != "" && was.version == l.ResourceVersion {
		p.versions = was.versions
	}
	for _, o := range l.Items {
		p.put(o, o.ResourceVersion())
	}
	c.given[r] = given{l.ResourceVersion, p.versions, true}
}

// begin and leave are called with the client's lock held.
func (s *stream) begin(version string) {
	if g, ok := s.client.given[s.request]; ok && g.version == version {
		s.pending.versions, s.pending.whole = maps.Clone(g.versions), g.whole
	}
}

func (s *stream) leave() {
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	if len(s.pending.versions) > 0 || s.pending.whole {
		s.client.given[s.request] = given{s.watch.Version(), s.pending.versions, s.pending.whole}
	}
}

// arrived reports whether an informer's store holds what its reflector was given. Which watch is the informer's can't be
// known: it is one of its kind at its version.
func (c *Client) arrived(t *tracked) bool {
	store, version := t.informer.GetStore(), t.informer.LastSyncResourceVersion()
	if s, ok := store.(versionedStore); ok {
		return s.LastStoreSyncResourceVersion() == version
	}
	streams, _ := c.present()
	candidates := 0
	for s := range streams {
		if !s.reflector || s.watch.Version() != version {
			continue
		}
		candidates++
		if s.pending.in(store) {
			return true
		}
	}
	return candidates == 0 // it waits to list again
}

// allArrived forgets what every store holds now.
func (c *Client) allArrived() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.given)
	for s := range c.streams {
		s.pending.clear()
	}
}
