package fakeclient

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// Step applies the next event of the tape and settles: see [Client.Settle].
// Initial lists and what a GAP's SYNC ends are one event. It returns io.EOF at
// the end of the tape, and steps no more once the context has ended.
//
// Step instead of Run, not beside it: then every client sees every event, one
// by one, in the order of the tape across all resources.
func (c *Client) Step(ctx context.Context) error { return c.step(ctx, replay.End) }

// step is a step up to a position; io.EOF says that there is none.
func (c *Client) step(ctx context.Context, to time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.player.StepTo(to); err != nil {
		return err
	}
	return c.Settle(ctx)
}

// StepTo steps as long as the next event, or what a FaultInjector does next, is
// at or before a position, and settles, even where there was nothing to step
// over; replay.End is the end of the tape.
func (c *Client) StepTo(ctx context.Context, to time.Duration) error {
	for {
		if err := c.step(ctx, to); errors.Is(err, io.EOF) {
			return c.Settle(ctx)
		} else if err != nil {
			return err
		}
	}
}

// Settle waits until what was applied has arrived, as far as can be known:
//
//   - every open watch has handed over all its events;
//   - every reflector (of an informer, of a controller-runtime cache) has come
//     back for the next one: the event is in the informer's queue;
//   - for informers given to Track, the event is in the store, so that listers
//     show it;
//   - handlers added with Handle have returned.
//
// It can't be known what happens after that: handlers added in other
// ways, work queues, goroutines of a consumer that reads a watch itself. In a
// testing/synctest bubble, synctest.Wait after Step waits for all of it.
//
// A consumer of its own that opens a watch as reflectors do, with bookmarks and a
// timeout, is taken for one, and is waited for: it has to call ResultChan before
// each event, as they do.
//
// A reflector that is about to list again, after a rewind or an error, has no
// watch for a second or so; that is waited for where its informer is tracked.
// A FaultInjector may send it away again and again, until the tape has gone on:
// so no call waits for as many informers as requests were refused since the
// last Settle. An object that Go's type of its kind can't hold sends it away
// for ever: that is an error.
func (c *Client) Settle(ctx context.Context) error {
	informers, err := c.arrive(ctx)
	if err != nil {
		return err
	}
	c.refusals.Store(c.cluster.Refusals())
	changed := c.notes.take()
	changed.all = changed.all || c.cluster.HasFaultInjector() // events of earlier steps may arrive in this one
	taken := c.takenBy()
	for _, t := range informers {
		if err := c.settled(ctx, &t, changed); err != nil {
			c.notes.giveBack(changed)
			return err
		}
	}
	c.allArrived(taken)
	return nil
}

// arrive waits for the watches. A tracked informer may be between its list and
// its watch, or wait to list again: it has arrived when it is where an
// open watch does.
func (c *Client) arrive(ctx context.Context) ([]tracked, error) {
	for wait := shortPoll; ; wait = min(2*wait, longPoll) {
		streams, informers := c.present()
		if err := c.cluster.WaitDelivered(ctx); err != nil {
			return nil, err
		}
		at := map[string]int{}
		for s := range streams {
			if err := s.settled(ctx); err != nil {
				return nil, err
			}
			if !s.ended() {
				at[s.watch.Version()]++
			}
		}
		away := slices.DeleteFunc(slices.Clone(informers), func(t tracked) bool {
			v := t.informer.LastSyncResourceVersion()
			if t.waitedFor() {
				at[v]--
			}
			return !t.waitedFor() || at[v] >= 0
		})
		now, _ := c.present()
		if !maps.Equal(streams, now) {
			continue // one that has just been opened wasn't waited for
		}
		if int64(len(away)) <= c.cluster.Refusals()-c.refusals.Load() {
			return informers, nil
		}
		if err := c.unreadable(); err != nil { // so that one of them never arrives
			return nil, err
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// present returns the streams that are open, and what is tracked.
func (c *Client) present() (map[*stream]struct{}, []tracked) {
	c.mu.Lock()
	defer c.mu.Unlock()
	informers := make([]tracked, len(c.tracked))
	for i, t := range c.tracked {
		informers[i] = *t
	}
	return maps.Clone(c.streams), informers
}

// notes gathers what the player tells.
type notes struct {
	mu      sync.Mutex
	changed map[string]struct{}
	all     bool
}

func (n *notes) tell(note replay.Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case note.Kind == replay.Rewound,
		note.Kind == replay.Applied && note.Event.Type == timeline.Sync && note.Changed: // of a list whose objects an earlier step may have noted
		n.all = true
	case note.Kind == replay.Applied && note.Event.Type.Object():
		n.changed[keyOf(note.Event.Namespace, note.Event.Name)] = struct{}{}
	}
}

func (n *notes) take() *changes {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := &changes{keys: slices.Collect(maps.Keys(n.changed)), all: n.all}
	clear(n.changed)
	n.all = false
	return c
}

func (n *notes) giveBack(c *changes) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, k := range c.keys {
		n.changed[k] = struct{}{}
	}
	n.all = n.all || c.all
}

// Track makes Step and Settle wait until an informer's store holds what its
// reflector has received. The informers have to be ones of this Client.
// Informers that haven't synced yet or have stopped aren't waited for.
func (c *Client) Track(informers ...cache.SharedIndexInformer) {
	for _, i := range informers {
		c.track(i)
	}
}

func (c *Client) track(i cache.SharedIndexInformer) *tracked {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.tracked {
		if t.informer == i || t.informer.GetStore() == i.GetStore() { // one that wraps it, as those of [Test.Informers] do
			return t
		}
	}
	t := &tracked{informer: i, resource: &atomic.Pointer[schema.GroupVersionResource]{}}
	c.tracked = append(c.tracked, t)
	c.tracks.Store(true)
	return t
}

// Handle adds a handler to an informer and makes Step and Settle wait until it
// has dealt with what the informer's store holds. The informer is tracked.
func (c *Client) Handle(i cache.SharedIndexInformer, h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return c.handle(i, h, i.AddEventHandler)
}

// handle adds a handler in one of the ways that an informer has.
func (c *Client) handle(i cache.SharedIndexInformer, h cache.ResourceEventHandler,
	add func(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error),
) (cache.ResourceEventHandlerRegistration, error) {
	w := &handler{ResourceEventHandler: h, seen: map[string]string{}, moved: make(chan struct{}, 1)}
	reg, err := add(w)
	if err != nil {
		return nil, err
	}
	w.registration = reg
	t := c.track(i)
	c.mu.Lock()
	defer c.mu.Unlock()
	t.handlers = append(t.handlers, w)
	return reg, nil
}

// unhandle no longer waits for a handler.
func (c *Client) unhandle(i cache.SharedIndexInformer, r cache.ResourceEventHandlerRegistration) {
	t := c.track(i)
	c.mu.Lock()
	defer c.mu.Unlock()
	t.handlers = slices.DeleteFunc(slices.Clone(t.handlers), func(h *handler) bool { return h.registration == r })
}
