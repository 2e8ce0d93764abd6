package noderoll

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// informers are the watches of a KubeObserver. They are reflectors that write
// straight into a State: a shared informer would hold every pod a second time.
type informers struct {
	ctx    context.Context
	cancel context.CancelFunc
	state  *State // guarded by the observer's mu, as is synced
	synced bool
	feeds  []*watchFeed
	done   sync.WaitGroup // the reflectors
}

func newInformers(ctx context.Context, o *KubeObserver) *informers {
	// What goes wrong is told by Snapshot and StartInformers; a log on standard
	// error would tear a panel apart.
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, klog.Logger{}))
	r := &informers{ctx: ctx, cancel: cancel, state: NewState(o.opts.StateOptions)}
	r.state.SetPodsError("")
	nodes, pods, events := o.client.nodes, o.client.pods(metav1.NamespaceAll), o.client.events
	r.feeds = []*watchFeed{
		newWatchFeed(o, Nodes, &corev1.Node{}, func(x *metav1.ListOptions) { x.LabelSelector = o.selector },
			func(ctx context.Context, x metav1.ListOptions) (runtime.Object, error) {
				return nodes.List(ctx, x)
			}, nodes.Watch, nodeSink(r.state)),
		newWatchFeed(o, Pods, &corev1.Pod{}, func(*metav1.ListOptions) {},
			func(ctx context.Context, x metav1.ListOptions) (runtime.Object, error) {
				list, err := pods.List(ctx, x)
				if err == nil {
					for i := range list.Items {
						list.Items[i] = *stripPod(&o.opts, &list.Items[i])
					}
				}
				return list, err
			}, pods.Watch, podSink(r.state, &o.opts)),
		newWatchFeed(o, Events, &corev1.Event{}, func(x *metav1.ListOptions) { x.FieldSelector = warningsOnly },
			func(ctx context.Context, x metav1.ListOptions) (runtime.Object, error) {
				return events.List(ctx, x)
			}, events.Watch, eventSink(r.state)),
	}
	if budgets := o.opts.Budgets; budgets != nil {
		r.feeds = append(r.feeds, newWatchFeed(o, Budgets, &policyv1.PodDisruptionBudget{}, func(*metav1.ListOptions) {},
			func(ctx context.Context, x metav1.ListOptions) (runtime.Object, error) {
				return budgets.List(ctx, x)
			}, budgets.Watch, budgetSink(r.state)))
	}
	return r
}

func (r *informers) start() {
	for _, f := range r.feeds {
		r.done.Go(func() { f.run(r.ctx) })
	}
}

// stop ends the reflectors and waits for them, and for the requests that they
// leave behind: a reflector's list runs in a goroutine of its own.
func (r *informers) stop() {
	r.cancel()
	r.done.Wait()
	for _, f := range r.feeds {
		f.close()
	}
}

// healthy returns why the State may lag behind the server, or nil.
func (r *informers) healthy() error {
	var broken []error
	for _, f := range r.feeds {
		broken = append(broken, f.health())
	}
	return errors.Join(broken...)
}

// waitSynced returns nil when every cache has been filled once.
func (r *informers) waitSynced(ctx context.Context, c clock.Clock, timeout time.Duration) error {
	timer := c.NewTimer(timeout)
	defer timer.Stop()
	for _, f := range r.feeds {
		select {
		case <-f.filled:
			continue
		case <-timer.C():
			return r.notSynced(fmt.Sprintf("within %s", timeout))
		case <-ctx.Done():
			return r.notSynced(ctx.Err().Error())
		case <-r.ctx.Done():
			return r.notSynced("stopped")
		}
	}
	return nil
}

func (r *informers) notSynced(why string) error {
	var missing []string
	var last error
	for _, f := range r.feeds {
		select {
		case <-f.filled:
		default:
			missing = append(missing, f.resource)
			last = errors.Join(last, f.lastError())
		}
	}
	msg := fmt.Sprintf("watch node group: caches did not sync (%s): waiting for %s", why, strings.Join(missing, ", "))
	if last != nil {
		return fmt.Errorf("%s: %s", msg, OneLine(last.Error()))
	}
	return errors.New(msg)
}

// watchFeed keeps one resource of a State up to date.
type watchFeed struct {
	resource  string
	reflector *cache.Reflector
	filled    chan struct{} // closed when the first list is in
	once      sync.Once

	mu      sync.Mutex
	err     error // of the last request, nil if it succeeded
	listing bool  // a list has been asked for and isn't in yet
	closed  bool
	calls   sync.WaitGroup
}

func newWatchFeed(o *KubeObserver, resource string, kind runtime.Object, tweak func(*metav1.ListOptions), list cache.ListWithContextFunc, watch cache.WatchFuncWithContext, s sink) *watchFeed {
	f := &watchFeed{resource: resource, filled: make(chan struct{}), listing: true}
	lw := &cache.ListWatch{
		ListWithContextFunc:  f.listed(tweak, list),
		WatchFuncWithContext: f.opened(tweak, watch),
	}
	// A fake clientset doesn't know WatchList and says so through its type.
	f.reflector = cache.NewReflectorWithOptions(
		cache.ToListWatcherWithWatchListSemantics(lw, o.client.itself), kind,
		&sinkStore{mu: &o.mu, sink: s, replaced: f.replaced, opts: &o.opts}, cache.ReflectorOptions{Name: "noderoll " + resource})
	return f
}

func (f *watchFeed) run(ctx context.Context) { f.reflector.RunWithContext(ctx) }

// listed wraps a list request so that its failure is known.
func (f *watchFeed) listed(tweak func(*metav1.ListOptions), list cache.ListWithContextFunc) cache.ListWithContextFunc {
	return func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		if !f.begin(true) {
			return nil, context.Canceled
		}
		defer f.calls.Done()
		tweak(&opts)
		out, err := list(ctx, opts)
		f.note(err)
		return out, err
	}
}

// opened wraps the opening of a watch likewise. One that sends the initial
// events is a list as well.
func (f *watchFeed) opened(tweak func(*metav1.ListOptions), open cache.WatchFuncWithContext) cache.WatchFuncWithContext {
	return func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
		if !f.begin(opts.SendInitialEvents != nil && *opts.SendInitialEvents) {
			return nil, context.Canceled
		}
		defer f.calls.Done()
		tweak(&opts)
		w, err := open(ctx, opts)
		f.note(err)
		if err != nil {
			return nil, err
		}
		return endingWatch{w, f}, nil
	}
}

// endingWatch tells when its stream has ended: until the next one is open, up to half a minute later, nothing that happens is seen
// (handleWatch of client-go's tools/cache/reflector.go stops each watch that it is done with).
type endingWatch struct {
	watch.Interface
	feed *watchFeed
}

func (w endingWatch) Stop() {
	w.Interface.Stop()
	w.feed.note(fmt.Errorf("the watch of %s has ended", w.feed.resource))
}

func (f *watchFeed) begin(listing bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.listing = f.listing || listing
	f.calls.Add(1)
	return true
}

func (f *watchFeed) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *watchFeed) replaced() {
	f.mu.Lock()
	f.listing = false
	f.mu.Unlock()
	// Last: its waiters may ask for the health at once.
	f.once.Do(func() { close(f.filled) })
}

func (f *watchFeed) lastError() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *watchFeed) health() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil && f.listing {
		return fmt.Errorf("%s are being listed", f.resource)
	}
	return f.err
}

func (f *watchFeed) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.calls.Wait()
}
