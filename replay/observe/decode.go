package observe

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// decoders decode objects for the feed into objects that are used again and again.
type decoders struct {
	brief, full kubejson.Decoder

	node  corev1.Node
	pod   corev1.Pod
	event corev1.Event
}

// everything is what a whole object tells: a member that isn't there is zero.
const everything = ^kubejson.Fields(0)

// ReadPatches makes r hand out patches where the Follower can do without whole
// objects. It is called for a Reader and a Follower that are both at the beginning
// of the tape.
func (f *Follower) ReadPatches(r *timeline.Reader) {
	f.TrustPatches()
	r.HandOutPatches(func(res timeline.Resource) bool {
		switch res.Group + "/" + res.Resource {
		case "/pods":
			return !f.feed.Pods()
		case "/events", "events.k8s.io/events", "cluster.x-k8s.io/machines", "karpenter.sh/nodeclaims":
			return false
		}
		return true
	})
}

// TrustPatches makes the Follower look at patches alone where it knows their object:
// every event comes to it as a Reader has read it, from the tape's beginning.
func (f *Follower) TrustPatches() { f.trust = true }

// text is what an event says of an object: the patch where the object is known and
// patches are trusted, else all of it.
func (f *Follower) text(ev *timeline.Event, known bool) (raw []byte, whole bool, err error) {
	if ev.Object != nil && (!known || !f.trust || ev.Patch == nil) {
		return ev.Object, true, nil
	}
	if !known {
		return nil, false, unreadable(ev, errNoObject)
	}
	return ev.Patch, false, nil
}

var errNoObject = errors.New("a patch of what wasn't whole before")

func unreadable(ev *timeline.Event, err error) error {
	return fmt.Errorf("%s %s %s/%s at %s: %w", ev.Type, ev.Resource, ev.Namespace, ev.Name, timeline.FormatAt(ev.At), err)
}

// budget hands a PodDisruptionBudget to the feed.
func (f *Follower) budget(ev *timeline.Event) ([]noderoll.Entry, error) {
	id := objectName{ev.Namespace, ev.Name}
	if ev.Type == timeline.Deleted {
		delete(f.budgets, id)
		return f.feed.DeleteBudget(f.at, ev.Namespace, ev.Name), nil
	}
	b := f.budgets[id]
	raw, whole, err := f.text(ev, b != nil)
	if err != nil {
		return nil, err
	}
	if whole {
		b = &policyv1.PodDisruptionBudget{}
		b.Namespace, b.Name = ev.Namespace, ev.Name
		f.budgets[id] = b
	}
	f.decoders.brief.Budget(b, raw)
	return f.feed.SetBudget(f.at, noderoll.BudgetFrom(b)), nil
}

// event hands an Event to the feed, of either of its two APIs.
func (f *Follower) event(ev *timeline.Event) ([]noderoll.Entry, error) {
	if ev.Type == timeline.Deleted {
		return f.feed.DeleteEvent(f.at, ev.Namespace, ev.Name), nil
	}
	o := &f.decoders.event
	*o = corev1.Event{}
	f.decoders.brief.Event(o, ev.Object)
	r := noderoll.EventRecordFrom(o)
	r.Namespace, r.Name, r.UID = ev.Namespace, ev.Name, ev.UID
	return f.feed.SetEvent(f.at, r), nil
}
