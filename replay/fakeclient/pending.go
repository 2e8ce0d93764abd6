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
	notes    int               // how often it has changed
}

const deleted = "" // no object's version

type versionedStore interface{ LastStoreSyncResourceVersion() string }

// storesSayVersions is whether the client-go of this program is that new.
var _, storesSayVersions = cache.NewStore(cache.MetaNamespaceKeyFunc).(versionedStore)

// note is called before the reflector has the event.
func (p *pending) note(ev replay.Event) {
	if ev.Status != nil || ev.Type == watch.Bookmark {
		return
	}
	version := ev.Object.ResourceVersion()
	if ev.Type == watch.Deleted {
		version = deleted
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.versions == nil {
		p.versions = map[string]string{}
	}
	p.versions[keyOf(ev.Object.Namespace(), ev.Object.Name())] = version
	p.notes++
}

// missing returns the key of an object that a store doesn't hold as it was given, or that it holds and shouldn't.
func (p *pending) missing(store cache.Store) (key string, missing bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, version := range p.versions {
		obj, held, err := store.GetByKey(key)
		if err != nil || held != (version != deleted) {
			return key, true
		}
		if has := versionOf(obj); held && has != version && has != "" { // "": transformed
			return key, true
		}
	}
	if p.whole {
		for _, key := range store.ListKeys() {
			if p.versions[key] == deleted {
				return key, true
			}
		}
	}
	return "", false
}

func (p *pending) changes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.notes
}

// clear forgets all of it, unless it has changed since.
func (p *pending) clear(since int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.notes == since {
		clear(p.versions)
		p.whole = false
	}
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
	pages    bool // there are more
}

// noteList notes a list, or a page of it, for the watch that follows.
func (c *Client) noteList(r request, l *replay.List, opts metav1.ListOptions) {
	if !c.compares() {
		return
	}
	g := given{version: l.ResourceVersion, versions: make(map[string]string, len(l.Items)), whole: true, pages: l.Continue != ""}
	for _, o := range l.Items {
		g.versions[keyOf(o.Namespace(), o.Name())] = o.ResourceVersion()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if opts.Continue != "" {
		was := c.given[r]
		if !was.pages || was.version != l.ResourceVersion {
			return // the end of a list whose beginning isn't known
		}
		maps.Copy(g.versions, was.versions)
	}
	c.given[r] = g
}

// compares reports whether what stores hold has to be compared.
func (c *Client) compares() bool { return !storesSayVersions && c.tracks.Load() }

// begin and leave are called with the client's lock held. Streamed initial events are a list of their own.
func (s *stream) begin(opts metav1.ListOptions) {
	if opts.SendInitialEvents != nil {
		s.pending.whole = true
		return
	}
	if g, ok := s.client.given[s.request]; ok && !g.pages && g.version == opts.ResourceVersion {
		s.pending.versions, s.pending.whole = maps.Clone(g.versions), g.whole
	}
}

func (s *stream) leave() {
	if !s.reflector || !s.client.compares() {
		return
	}
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	s.client.given[s.request] = given{version: s.watch.Version(), versions: maps.Clone(s.pending.versions), whole: s.pending.whole}
}

// arrived reports whether an informer's store holds what its reflector was given, and if not, what it lacks. Which watch is
// the informer's isn't known: it is one of its resource at its version.
func (c *Client) arrived(t *tracked) (lacks string, arrived bool) {
	store, version := t.informer.GetStore(), t.informer.LastSyncResourceVersion()
	if s, ok := store.(versionedStore); ok {
		return "version " + version, s.LastStoreSyncResourceVersion() == version
	}
	streams, informers := c.present()
	watches := 0
	for s := range streams {
		if !s.reflector || s.watch.Version() != version || !t.isOf(s.gvr) {
			continue
		}
		watches++
		key, missing := s.pending.missing(store)
		if !missing {
			return "", true
		}
		lacks = key
	}
	// Where there are more informers than watches, the watch of one was refused, perhaps this one's.
	for _, other := range informers {
		if other.waitedFor() && other.informer.LastSyncResourceVersion() == version && other.resembles(t) {
			watches--
		}
	}
	return lacks, lacks == "" || watches < 0
}

// takenBy is how much each watch has given so far.
func (c *Client) takenBy() map[*stream]int {
	if !c.compares() {
		return nil
	}
	streams, _ := c.present()
	taken := make(map[*stream]int, len(streams))
	for s := range streams {
		taken[s] = s.pending.changes()
	}
	return taken
}

// allArrived forgets what every store holds now.
func (c *Client) allArrived(taken map[*stream]int) {
	if taken == nil {
		return
	}
	for s, changes := range taken {
		s.pending.clear(changes)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.given)
}
