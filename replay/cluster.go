package replay

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/timeline"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Cluster is the state of the tape's resources at a moment, and what an API
// server would answer about it then. See the package comment.
//
// All methods may be called at any time from any goroutine. Apply, Settle and
// Rewind take effect one after the other, each at once for everyone; what a
// watch delivers for one resource comes in the order in which it was applied.
// Between resources there is no order, as there is none on the wire.
type Cluster struct {
	header    *timeline.Header
	served    atomic.Pointer[[]served] // what requests find; see Define
	defined   atomic.Uint64            // counts the changes of definitions
	history   int
	mostBytes int // of the history of a resource; 0 for any
	maxLag    int
	// Of living objects and their bytes, for what clients write; see full.
	mostLiving, mostLivingBytes int
	empty                       []timeline.Resource
	faultInjector               FaultInjector
	refused                     atomic.Int64 // requests, by the fault injector

	mu      sync.RWMutex
	kinds   []*kind
	byKey   map[string]*kind // by the word that events use
	at      time.Duration
	bytes   int     // of the living objects, unless it was rewound; see full
	objects int     // how many there are, unless it was rewound
	holding bool    // see hold
	open    []*kind // lists that a SYNC hasn't ended
	base    string  // added to every recorded version; "" until the first rewind
	patched []byte  // scratch of whole

	watching sync.Mutex
	watches  map[*Watch]struct{}
	late     atomic.Pointer[waiter] // see after
}

// ClusterOption changes what a Cluster keeps.
type ClusterOption func(*Cluster)

// History keeps n events of each resource for clients that watch again from an
// older version, and for lists at one; what is older is answered with 410. The
// default is 4,096, or as many as have objects of 64 MiB. Open watches don't need it: they never lose an event.
func History(n int) ClusterOption {
	return func(c *Cluster) { c.history, c.mostBytes = max(n, 1), 0 }
}

// MaxLag ends a watch with 410 when it hasn't read about n events that have
// happened, checked every 128 events. Without it the memory that a
// watcher holds back grows until it reads or stops; there is one copy of it
// however many lag.
func MaxLag(n int) ClusterOption { return func(c *Cluster) { c.maxLag = n } }

// NewCluster returns the empty state of the resources that the header lists.
func NewCluster(h *timeline.Header, opts ...ClusterOption) *Cluster {
	c := &Cluster{
		header: h, history: 4096, mostBytes: 64 << 20, mostLiving: mostLiving, mostLivingBytes: mostLivingBytes,
		byKey: map[string]*kind{}, watches: map[*Watch]struct{}{},
	}
	for _, o := range opts {
		o(c)
	}
	var all []served
	for _, r := range append(append([]timeline.Resource(nil), h.Resources...), c.empty...) {
		if slices.ContainsFunc(all, func(s served) bool { return s.Resource == r }) {
			continue
		}
		all = append(all, served{r, c.newKind(r)})
	}
	c.served.Store(&all)
	return c
}

// newKind adds a resource's state.
func (c *Cluster) newKind(r timeline.Resource) *kind {
	k := &kind{resource: r, log: newLog(c.history, c.mostBytes), objects: map[name]*Object{}}
	c.kinds = append(c.kinds, k)
	return k
}

// Resources returns what the tape holds, in the header's order, then what
// Empty has added, and what was defined since.
func (c *Cluster) Resources() (all []timeline.Resource) {
	for _, s := range *c.served.Load() {
		all = append(all, s.Resource)
	}
	return all
}

// Resource finds a resource; ok is false where the tape doesn't hold it.
func (c *Cluster) Resource(gvr schema.GroupVersionResource) (r timeline.Resource, ok bool) {
	if s := c.lookUp(gvr); s != nil {
		return s.Resource, true
	}
	return r, false
}

// At is the position of the last event that was applied.
func (c *Cluster) At() time.Duration {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.at
}

// kind is one resource: its state and its history. Guarded by Cluster.mu, but
// for the log's entries (see log) and news.
type kind struct {
	resource timeline.Resource
	objects  map[name]*Object
	sorted   []*Object // by key; nil where it has to be made again
	sorting  sync.Mutex
	log      *log
	phase    phase
	block    *block // while listing or in a gap
	seen     bool   // a client was told of the time before the first list

	held bool // there is news that no watch was woken for

	newsMu sync.Mutex
	news   chan struct{} // closed by the next entry; nil when no watch waits
}

type phase int

const (
	fresh   phase = iota // nothing heard yet
	listing              // inside the initial list
	live
	gap // between GAP and SYNC
)

type name struct{ namespace, name string }

// find returns the kind that a request names.
func (c *Cluster) find(gvr schema.GroupVersionResource) (*kind, error) {
	if s := c.lookUp(gvr); s != nil {
		return s.kind, nil
	}
	return nil, unknownResource(gvr)
}

// served is a resource in a version that requests may name, and what holds its
// objects, which has all its versions.
type served struct {
	timeline.Resource
	kind *kind
}

func (c *Cluster) lookUp(gvr schema.GroupVersionResource) *served {
	all := *c.served.Load()
	for i := range all {
		if r := &all[i].Resource; r.Resource == gvr.Resource && r.Group == gvr.Group && r.Version == gvr.Version {
			return &all[i]
		}
	}
	return nil
}

// named returns the kind that an event names.
func (c *Cluster) named(key string) *kind {
	if k, ok := c.byKey[key]; ok {
		return k
	}
	r, listed := c.header.Lookup(key)
	for _, k := range c.kinds {
		if listed && k.resource == r || !listed && k.resource.String() == key {
			c.byKey[key] = k
			return k
		}
	}
	return nil
}

// names says what the tape holds, for error messages.
func (c *Cluster) names() string {
	s := ""
	for i, r := range c.Resources() {
		if i > 0 {
			s += ", "
		}
		s += r.String()
	}
	if s == "" {
		return "a header that lists resources"
	}
	return fmt.Sprintf("one that the header lists (%s)", s)
}

// wake tells all that wait for an entry that there is one.
func (k *kind) wake() {
	k.newsMu.Lock()
	if k.news != nil {
		close(k.news)
		k.news = nil
	}
	k.newsMu.Unlock()
}

// hold lets all that wait for news wait until release: at maximum speed a watch
// is woken once for many events, and sends them together. A reader sees them.
func (c *Cluster) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = true
}

func (c *Cluster) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = false
	for _, k := range c.kinds {
		if k.held {
			k.held = false
			k.wake()
		}
	}
}

// coming returns a channel that the next entry closes.
func (k *kind) coming() <-chan struct{} {
	k.newsMu.Lock()
	defer k.newsMu.Unlock()
	if k.news == nil {
		k.news = make(chan struct{})
	}
	return k.news
}

// lists reports whether an event belongs to an initial list.
func (c *Cluster) lists(ev timeline.Event) bool {
	if ev.Type != timeline.Added && ev.Type != timeline.Sync {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.named(ev.Resource)
	return k != nil && (k.phase == fresh || k.phase == listing)
}

// alive counts the objects.
func (c *Cluster) alive() (n int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, k := range c.kinds {
		n += len(k.objects)
	}
	return n
}

// Empty adds resources that the tape doesn't hold: they are there, and nothing
// is in them. Without it a list of them is answered with 404.
func Empty(resources ...timeline.Resource) ClusterOption {
	return func(c *Cluster) { c.empty = append(c.empty, resources...) }
}
