package fakeclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/testing"

	"github.com/nodesim/nodesim/replay"
)

// TrackerFeed writes a replay into the object tracker of a fake that another
// package has made, for code whose test is built on fake.NewClientset and can't
// take a [Client]. Prefer a Client: the tracker loses what it was never made to
// keep (client-go's testing/fixture.go).
//
//   - Resource versions: a list is stamped with a counter of the tracker's, and
//     a watch can begin only at exactly the newest list. Objects keep theirs.
//   - Creates and updates between a client's list and its watch collapse into
//     one ADDED; a deletion there is lost, and the object stays in an informer's
//     store forever. Start informers, wait for their watches, then feed.
//   - A watch channel holds 100 events. With a consumer that is further
//     after the tracker panics ("channel full"): use Step, and let the consumer
//     follow, or feed no faster than it reads.
//   - Field selectors, limit, continue, bookmarks, 410, streamed lists: ignored
//     or absent. A watch isn't filtered by labels either.
//   - A gap and a rewind arrive as single creates, updates and deletes, one
//     after the other.
//
// Methods are called from one goroutine at a time.
type TrackerFeed struct {
	player  *replay.Player
	tracker testing.ObjectTracker
	decode  func([]byte) (runtime.Object, error)
	watches []*tracking
}

type tracking struct {
	gvr   schema.GroupVersionResource
	watch *replay.Watch
	alive map[[2]string]bool
}

// FeedTracker makes a feed of the whole tape into a tracker. Objects are
// decoded by the scheme, which is the fake's own; nil makes unstructured ones,
// for the tracker of a dynamic fake. A resource whose kind the scheme doesn't
// know is left out. Nothing is written before the first Step.
func FeedTracker(p *replay.Player, tracker testing.ObjectTracker, scheme *runtime.Scheme) (*TrackerFeed, error) {
	f := &TrackerFeed{player: p, tracker: tracker, decode: untyped{}.decode}
	if scheme != nil {
		codec := serializer.NewCodecFactory(scheme).UniversalDeserializer()
		f.decode = func(raw []byte) (runtime.Object, error) {
			obj, _, err := codec.Decode(raw, nil, nil)
			return obj, err
		}
	}
	for _, r := range p.Cluster().Resources() {
		gvr := gvrOf(r)
		if scheme != nil && !scheme.Recognizes(gvr.GroupVersion().WithKind(r.Kind)) {
			continue
		}
		t := &tracking{gvr: gvr, alive: map[[2]string]bool{}}
		if err := t.open(p.Cluster(), ""); err != nil {
			f.Close()
			return nil, err
		}
		f.watches = append(f.watches, t)
	}
	return f, nil
}

// open opens the watch anew; where that is refused it keeps the old one, which says again that it has ended.
func (t *tracking) open(c *replay.Cluster, version string) error {
	w, err := c.Watch(t.gvr, "", metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return err
	}
	t.watch = w
	return nil
}

// Step applies the next event of the tape and writes what it changed, or
// returns io.EOF. The initial lists are the first step.
func (f *TrackerFeed) Step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.player.Step(); err != nil {
		return err
	}
	return f.Write()
}

// Run steps to the end of the tape without waiting for anybody: only for
// consumers that read the tracker and don't watch, or not more than 100 events.
func (f *TrackerFeed) Run(ctx context.Context) error {
	for {
		if err := f.Step(ctx); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Write writes what has changed since the last call, for callers that move the
// Player themselves.
func (f *TrackerFeed) Write() error {
	for _, t := range f.watches {
		if err := f.write(t); err != nil {
			return fmt.Errorf("write %s into the tracker: %w", t.gvr.GroupResource(), err)
		}
	}
	return nil
}

func (f *TrackerFeed) write(t *tracking) error {
	for {
		ev, err := t.watch.TryNext()
		if replay.IsNoEvent(err) {
			return nil
		}
		if errors.Is(err, io.EOF) { // a fault has closed it: a client opens it again
			if err := f.reopen(t); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if ev.Type == watch.Error {
			if err := f.again(t); err != nil {
				return err
			}
			continue
		}
		if err := f.put(t, ev); err != nil {
			return err
		}
	}
}

func (f *TrackerFeed) put(t *tracking, ev replay.Event) error {
	o := ev.Object
	id := [2]string{o.Namespace(), o.Name()}
	if ev.Type == watch.Deleted {
		delete(t.alive, id)
		return f.remove(t, id)
	}
	obj, err := f.decode(o.Raw())
	if err != nil {
		return err
	}
	if t.alive[id] {
		err := f.tracker.Update(t.gvr, obj, o.Namespace())
		if !apierrors.IsNotFound(err) {
			return err
		} // the test has deleted it
	}
	t.alive[id] = true
	err = f.tracker.Create(t.gvr, obj, o.Namespace())
	if apierrors.IsAlreadyExists(err) { // the test's own
		return f.tracker.Update(t.gvr, obj, o.Namespace())
	}
	return err
}

// remove deletes an object, unless the test has done so.
func (f *TrackerFeed) remove(t *tracking, id [2]string) error {
	if err := f.tracker.Delete(t.gvr, id[0], id[1]); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// reopen goes on where a watch was closed, or lists where that is forgotten.
func (f *TrackerFeed) reopen(t *tracking) error {
	err := t.open(f.player.Cluster(), t.watch.Version())
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return f.again(t)
	}
	return err
}

// again lists after a rewind: what isn't there any more is deleted.
func (f *TrackerFeed) again(t *tracking) error {
	l, err := f.player.Cluster().List(t.gvr, "", metav1.ListOptions{})
	if err != nil {
		return err
	}
	gone := t.alive
	t.alive = map[[2]string]bool{}
	for _, o := range l.Items {
		id := [2]string{o.Namespace(), o.Name()}
		if gone[id] {
			t.alive[id] = true
			delete(gone, id)
		}
		if err := f.put(t, replay.Event{Type: watch.Modified, Object: o}); err != nil {
			return err
		}
	}
	byName := func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }
	for _, id := range slices.SortedFunc(maps.Keys(gone), byName) {
		if err := f.remove(t, id); err != nil {
			return err
		}
	}
	return t.open(f.player.Cluster(), l.ResourceVersion)
}

// Close ends the feed. The tracker keeps what is in it.
func (f *TrackerFeed) Close() {
	for _, t := range f.watches {
		t.watch.Stop()
	}
}
