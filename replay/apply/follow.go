package apply

import (
	"errors"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// follower watches the Player's Cluster as any client would, one watch a
// resource, but takes the events while the Player applies them: so it has them
// in the order of the tape. What it has waits in a queue for the writer.
type follower struct {
	cluster *replay.Cluster
	cancel  func() // the subscription
	wake    chan struct{}

	mu      sync.Mutex
	queue   []item
	full    func() // called when much waits
	rewound func() // called when the Player has gone back
	watches []*replay.Watch
	moving  bool // between a rewind and its arrival
	err     error
}

// item is one thing to write.
type item struct {
	at     time.Duration
	key    key
	object *replay.Object // nil: it is gone
	state  *state         // instead: everything again
}

// state is everything that is alive at a moment.
type state struct{ lists []*replay.List }

// crowd bounds how much may wait. The Player then waits for the writer, so that
// neither memory nor the distance to the tape's clock grow without bound.
const crowd = 512

func gvr(r timeline.Resource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// begin lists everything and watches on from there.
func (f *follower) begin(at time.Duration) {
	for _, w := range f.watches {
		w.Stop()
	}
	f.watches = nil
	now := &state{}
	for _, r := range f.cluster.Resources() {
		list, err := f.cluster.List(gvr(r), "", metav1.ListOptions{})
		if err != nil {
			f.err = errors.Join(f.err, err)
			return
		}
		w, err := f.cluster.Watch(gvr(r), "", metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if err != nil {
			f.err = errors.Join(f.err, err)
			return
		}
		f.watches, now.lists = append(f.watches, w), append(now.lists, list)
	}
	f.queue = append(f.queue, item{at: at, state: now})
}

// onNote is the Player's subscriber.
func (f *follower) onNote(n replay.Note) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch n.Kind {
	case replay.Rewound:
		f.moving = true
	case replay.Moved:
		if f.moving {
			f.moving = false
			f.rewound()
			f.begin(n.Position)
		}
	}
	f.drain(n.Position)
	select {
	case f.wake <- struct{}{}:
	default:
	}
	if len(f.queue) >= crowd && f.full != nil {
		f.full()
	}
}

// drain takes what the watches have.
func (f *follower) drain(at time.Duration) {
	for _, w := range f.watches {
		for !f.moving {
			ev, err := w.TryNext()
			if err != nil || ev.Object == nil {
				break
			}
			k := key{w.Resource(), ev.Object.Namespace(), ev.Object.Name()}
			it := item{at: at, key: k, object: ev.Object}
			if ev.Type == "DELETED" {
				it.object = nil
			}
			f.queue = append(f.queue, it)
		}
	}
}

// next takes one item off the queue; ok is false where none waits.
func (f *follower) next() (it item, ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return item{}, false, f.err
	}
	it = f.queue[0]
	f.queue[0] = item{}
	f.queue = f.queue[1:]
	return it, true, nil
}

// onFull sets what is called when much waits.
func (f *follower) onFull(full func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full = full
}

// rest takes what has taken effect without an event: lists that the end of the
// tape, or its silence, has ended.
func (f *follower) rest(at time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drain(at)
}

// unfollow ends the watches.
func (a *Applier) unfollow() {
	f := a.follow
	if f == nil {
		return
	}
	a.follow = nil
	f.cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.watches {
		w.Stop()
	}
}

// followPlayer opens the Player and begins.
func (a *Applier) followPlayer() error {
	f := &follower{cluster: a.player.Cluster(), wake: make(chan struct{}, 1), rewound: a.shift.Rewind}
	if err := a.player.Open(); err != nil {
		return err
	}
	at := a.player.Status().Event
	f.cancel = a.player.Subscribe(f.onNote)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begin(at)
	a.follow = f
	return f.err
}
