package fakeclient

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/timeline"
)

// tracked is an informer that lock-step waits for.
type tracked struct {
	informer cache.SharedIndexInformer
	handlers []*handler
	resource *atomic.Pointer[schema.GroupVersionResource] // nil as long as it isn't known
}

// isOf reports whether an informer may be of a resource: it is known where a factory of ours made the informer, and from the
// first object on.
func (t *tracked) isOf(r schema.GroupVersionResource) bool {
	known := t.resource.Load()
	return known == nil || *known == r
}

func (t *tracked) is(r schema.GroupVersionResource) { t.resource.Store(&r) }

func (t *tracked) resembles(other *tracked) bool {
	known := t.resource.Load()
	return known == nil || other.isOf(*known)
}

// learn looks which resource an informer is of.
func (t *tracked) learn(c *Client) {
	if t.resource.Load() != nil {
		return
	}
	held := t.informer.GetStore().List()
	if len(held) == 0 {
		return
	}
	if obj, ok := held[0].(runtime.Object); ok {
		if at := c.placeOf(obj); at >= 0 {
			t.is(gvrOf(c.cluster.Resources()[at]))
		}
	}
}

// placeOf is the place of an object's kind among the tape's resources; -1 where the tape doesn't have it.
func (c *Client) placeOf(obj runtime.Object) int {
	kinds := []schema.GroupVersionKind{obj.GetObjectKind().GroupVersionKind()}
	if kinds[0].Empty() {
		kinds, _, _ = scheme.Scheme.ObjectKinds(obj) // none for a type that isn't Kubernetes' own
	}
	return slices.IndexFunc(c.cluster.Resources(), func(r timeline.Resource) bool {
		return slices.Contains(kinds, gvrOf(r).GroupVersion().WithKind(r.Kind))
	})
}

// client-go has no way to be told when a reflector connects and when a store
// has caught up, which takes microseconds: they are asked in between these,
// the first times without a timer. (HasSyncedChecker tells of the first list, since 0.36.)
const shortPoll, longPoll = time.Microsecond, time.Millisecond

// patience bounds the time that an object takes from an informer's queue into its store. A transform that fails keeps it
// out of the queue.
const patience = 30 * time.Second

func pause(ctx context.Context, d time.Duration) error {
	if d < 32*shortPoll {
		goruntime.Gosched()
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// untilSynced waits for an informer's first list.
func untilSynced(ctx context.Context, i cache.SharedIndexInformer) error {
	for wait := shortPoll; !i.HasSynced(); wait = min(2*wait, 100*longPoll) { // that may take for ever
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
	return nil
}

func (t *tracked) waitedFor() bool { return t.informer.HasSynced() && !t.informer.IsStopped() }

// settled waits until an informer's store holds what its reflector was given, and its handlers have dealt with it.
func (c *Client) settled(ctx context.Context, t *tracked, keys *changes) error {
	t.learn(c)
	begun := time.Now()
	for wait := shortPoll; ; wait = min(2*wait, longPoll) {
		if !t.waitedFor() {
			return nil
		}
		lacks, arrived := c.arrived(t)
		if arrived {
			break
		}
		if time.Since(begun) > patience {
			return fmt.Errorf("fakeclient: an informer's store lacks %s for %s: found no error of the informer, want its transform to take every object",
				lacks, patience)
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
	for _, h := range t.handlers {
		if err := h.settled(ctx, t.informer.GetStore(), keys); err != nil {
			return err
		}
	}
	return nil
}

// handler notes which version of each object its handler has dealt with.
type handler struct {
	cache.ResourceEventHandler
	registration cache.ResourceEventHandlerRegistration
	moved        chan struct{} // holds one token after each call

	mu   sync.Mutex
	seen map[string]string // by key
	once bool              // all of it was found equal to the store
}

func (h *handler) OnAdd(obj any, initial bool) {
	h.ResourceEventHandler.OnAdd(obj, initial)
	h.note(obj, false)
}

func (h *handler) OnUpdate(old, obj any) {
	h.ResourceEventHandler.OnUpdate(old, obj)
	h.note(obj, false)
}

func (h *handler) OnDelete(obj any) {
	h.ResourceEventHandler.OnDelete(obj)
	h.note(obj, true)
}

func (h *handler) note(obj any, gone bool) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return // transformed into something without a name
	}
	h.mu.Lock()
	if gone {
		delete(h.seen, key)
	} else {
		h.seen[key] = versionOf(obj)
	}
	h.mu.Unlock()
	select {
	case h.moved <- struct{}{}:
	default:
	}
}

// keyOf is cache.MetaNamespaceKeyFunc's key.
func keyOf(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func versionOf(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetResourceVersion()
}

// settled waits until the handler has seen what the store holds. It asks again without a call too: the store may take
// an object a moment after the handler has learned of it.
func (h *handler) settled(ctx context.Context, store cache.Store, c *changes) error {
	timer := time.NewTimer(longPoll)
	defer timer.Stop()
	for !h.equal(store, c) {
		select {
		case <-h.moved:
		case <-timer.C:
			timer.Reset(longPoll)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (h *handler) equal(store cache.Store, c *changes) bool {
	keys := c.keys
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.all || !h.once {
		if keys = store.ListKeys(); len(keys) != len(h.seen) {
			return false
		}
	}
	for _, key := range keys {
		obj, held, err := store.GetByKey(key)
		seen, known := h.seen[key]
		if err != nil || held != known || held && seen != versionOf(obj) {
			return false
		}
	}
	h.once = true
	return true
}

// changes are the objects that have changed since the last time that
// everything was settled, so that not all of them have to be looked at.
type changes struct {
	keys []string
	all  bool // rewound, or listed again: any of them
}
