package fakeclient

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// factory is a SharedInformerFactory whose informers are tracked. It makes those
// that it is asked for, and no others, as client-go's does.
type factory struct {
	informers.SharedInformerFactory
	client *Client

	mu      sync.Mutex
	asked   []*informer // not started yet
	started []*informer
	// absent are resources that were asked for and aren't on the tape: no informer of theirs ever syncs.
	absent []schema.GroupVersionResource
	last   *informer // the one that lists last
}

func newFactory(c *Client) *factory {
	f := &factory{SharedInformerFactory: informers.NewSharedInformerFactory(c, 0), client: c}
	for _, r := range c.cluster.Resources() {
		if !byGroup[r.Group] {
			_, _ = f.ForResource(gvrOf(r)) // an error says that client-go has no informer for it
		}
	}
	return f
}

// InformerFor implements informers.SharedInformerFactory.
func (f *factory) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return f.SharedInformerFactory.InformerFor(obj, func(k kubernetes.Interface, d time.Duration) cache.SharedIndexInformer {
		i := &informer{SharedIndexInformer: newFunc(k, d), client: f.client, factory: f, place: f.client.placeOf(obj), listed: make(chan struct{})}
		t := f.client.track(i.SharedIndexInformer)
		if i.place >= 0 {
			t.is(gvrOf(f.client.cluster.Resources()[i.place]))
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = append(f.asked, i)
		if kinds, _, _ := scheme.Scheme.ObjectKinds(obj); i.place < 0 && len(kinds) > 0 {
			gvr, _ := meta.UnsafeGuessKindToResource(kinds[0])
			f.absent = append(f.absent, gvr)
		}
		return i
	})
}

// takeAbsent returns what was asked for in vain since it was last called.
func (f *factory) takeAbsent() []schema.GroupVersionResource {
	f.mu.Lock()
	defer f.mu.Unlock()
	absent := f.absent
	f.absent = nil
	return absent
}

// ForResource implements informers.SharedInformerFactory. The factory inside
// hands out the informer that it has (InformerFor in client-go's
// informers/factory.go), so the tracked one is made first.
func (f *factory) ForResource(gvr schema.GroupVersionResource) (informers.GenericInformer, error) {
	for _, r := range f.client.cluster.Resources() {
		if gvrOf(r) != gvr {
			continue
		}
		obj, err := scheme.Scheme.New(gvr.GroupVersion().WithKind(r.Kind))
		if err != nil {
			break // a custom resource
		}
		untracked, err := informers.NewSharedInformerFactory(f.client, 0).ForResource(gvr)
		if err != nil {
			break // a kind without informer
		}
		f.InformerFor(obj, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return untracked.Informer() })
	}
	return f.SharedInformerFactory.ForResource(gvr)
}

// Start implements informers.SharedInformerFactory.
func (f *factory) Start(stop <-chan struct{}) {
	f.mu.Lock()
	slices.SortStableFunc(f.asked, func(a, b *informer) int { return a.place - b.place })
	for _, i := range f.asked {
		if i.place >= 0 { // one that isn't on the tape never lists
			i.before, f.last = f.last, i
		}
	}
	f.started = append(f.started, f.asked...)
	f.asked = nil
	f.mu.Unlock()
	f.SharedInformerFactory.Start(stop)
}

// StartWithContext implements informers.SharedInformerFactory of client-go 0.36 and newer.
func (f *factory) StartWithContext(ctx context.Context) { f.Start(ctx.Done()) }

// untilSynced waits for the first list of all that was started. WaitForCacheSync asks ten times a second before client-go 0.36.
func (f *factory) untilSynced(ctx context.Context) {
	f.mu.Lock()
	started := slices.Clone(f.started)
	f.mu.Unlock()
	for _, i := range started {
		_ = untilSynced(ctx, i) // an error is the context's end, which the next one sees
	}
}

// informer is one that lock-step waits for, with its handlers. The informers of
// a factory are started together; these list one after the other, so that
// handlers of several resources learn of the first objects in the same order
// every time.
type informer struct {
	cache.SharedIndexInformer
	client  *Client
	factory *factory
	place   int           // of its resource in the tape's header; -1 for none
	before  *informer     // the one that lists before it; set with the factory's lock when that starts it
	listed  chan struct{} // closed when its handlers have learned of the first list
	running bool          // likewise: it runs, or has run
}

// Run implements cache.SharedIndexInformer.
func (i *informer) Run(stop <-chan struct{}) { i.RunWithContext(wait.ContextForChannel(stop)) }

// RunWithContext implements cache.SharedIndexInformer. The second call does nothing, as in client-go: code under test may
// run an informer that the factory starts too.
func (i *informer) RunWithContext(ctx context.Context) {
	i.factory.mu.Lock()
	before, again := i.before, i.running
	i.running = true
	i.factory.mu.Unlock()
	if again {
		return
	}
	if before != nil {
		select {
		case <-before.listed:
		case <-ctx.Done():
		}
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		defer close(i.listed)
		if untilSynced(ctx, i.SharedIndexInformer) == nil {
			_, all := i.client.present()
			for _, t := range all {
				if t.informer == i.SharedIndexInformer {
					_ = i.client.settled(ctx, &t, &changes{all: true}) // an error comes again, of the next one or of Settle
				}
			}
		}
	})
	i.SharedIndexInformer.RunWithContext(ctx)
	waiting.Wait()
}

// AddEventHandler implements cache.SharedIndexInformer.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.client.Handle(i.SharedIndexInformer, h)
}

// AddEventHandlerWithResyncPeriod implements cache.SharedIndexInformer.
func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, d time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.client.handle(i.SharedIndexInformer, h, func(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
		return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(h, d)
	})
}

// AddEventHandlerWithOptions implements cache.SharedIndexInformer.
func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.client.handle(i.SharedIndexInformer, h, func(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
		return i.SharedIndexInformer.AddEventHandlerWithOptions(h, o)
	})
}

// RemoveEventHandler implements cache.SharedIndexInformer.
func (i *informer) RemoveEventHandler(r cache.ResourceEventHandlerRegistration) error {
	i.client.unhandle(i.SharedIndexInformer, r)
	return i.SharedIndexInformer.RemoveEventHandler(r)
}
