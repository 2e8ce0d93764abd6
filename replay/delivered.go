package replay

import (
	"context"

	"github.com/nodesim/nodesim/timeline"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// WaitDelivered returns when every watch that is open now has delivered all
// that was applied before the call, and its reader has come back and waits for
// more, or when the context ends. With it an adapter goes in lock-step: apply
// one event, wait, apply the next. A watch whose reader has gone away without
// Stop is waited for until the context ends.
//
// A watch that ends while it is waited for counts as delivered; what its
// client does then (list, watch again) isn't seen here.
func (c *Cluster) WaitDelivered(ctx context.Context) error {
	for _, w := range c.openWatches() {
		if err := w.delivered(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) openWatches() []*Watch {
	c.watching.Lock()
	defer c.watching.Unlock()
	all := make([]*Watch, 0, len(c.watches))
	for w := range c.watches {
		all = append(all, w)
	}
	return all
}

// WatchState describes an open watch.
type WatchState struct {
	Resource                     timeline.Resource
	Namespace                    string
	LabelSelector, FieldSelector string
	Version                      string // see [Watch.Version]
	Lag                          int    // events of the resource that it hasn't read yet
	Waiting                      bool   // its reader waits for the next event
}

// Watches describes the open watches, in no order.
func (c *Cluster) Watches() []WatchState {
	var all []WatchState
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, w := range c.openWatches() {
		w.mu.Lock()
		all = append(all, WatchState{
			Resource: w.kind.resource, Namespace: w.request.namespace,
			LabelSelector: w.request.opts.LabelSelector, FieldSelector: w.request.opts.FieldSelector,
			Version: w.version, Lag: w.lag(), Waiting: w.waiting,
		})
		w.mu.Unlock()
	}
	return all
}

// lag counts the entries ahead. Called with mu held.
func (w *Watch) lag() int {
	if w.ended || w.cursor.c == nil {
		return 0
	}
	return max(int(w.log.count.Load())-w.cursor.index(), 0)
}

// rest notes that the reader waits, and wakes its waiters. It reports
// whether there is something to read after all.
func (w *Watch) rest() (pending bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending() {
		return true
	}
	w.waiting = true
	if w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
	return false
}

// delivered waits until the reader waits.
func (w *Watch) delivered(ctx context.Context) error {
	for {
		w.mu.Lock()
		if w.ended || w.waiting && !w.pending() {
			w.mu.Unlock()
			return nil
		}
		if w.idle == nil {
			w.idle = make(chan struct{})
		}
		idle := w.idle
		w.mu.Unlock()
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// endLaggards ends the watches of a resource that are too far behind. Called
// with the cluster's lock held.
func (c *Cluster) endLaggards(k *kind) {
	for _, w := range c.openWatches() {
		if w.kind != k {
			continue
		}
		w.mu.Lock()
		late := w.lag() > c.maxLag && w.fail == nil
		w.mu.Unlock()
		if late {
			w.Fail(apierrors.NewResourceExpired("the watch was too slow: list again"))
		}
	}
}
