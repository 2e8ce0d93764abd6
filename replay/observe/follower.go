package observe

import (
	"context"
	"maps"
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// Follower keeps the state of a group as a tape continues. It is for one
// goroutine.
type Follower struct {
	header    *timeline.Header
	options   Options
	feed      *noderoll.Feed
	resources map[string]*resource
	listing   []*resource // initial lists that no SYNC has ended yet
	nodes     map[string]*nodeCache
	budgets   map[objectName]*policyv1.PodDisruptionBudget
	known     map[objectName]*noderoll.Pod // where patches are trusted
	trust     bool                         // see TrustPatches
	decoders  decoders
	provider  noderoll.Provider
	groups    map[string]struct{} // of all nodes that were seen
	pods      bool                // that a roll of pods is about were seen
	at        time.Duration
	entries   []noderoll.Entry
	current   timeline.Event // that Apply looks at: on the heap once
}

// resource is where one resource of the tape stands.
type resource struct {
	key, plural string
	decode      decoder // nil for those that a roll doesn't look at
	phase       phase
	found       block // by listing again, not yet in effect
}

type phase int

const (
	fresh   phase = iota // nothing seen yet
	listing              // in the initial list
	live
	gap // between a GAP and its SYNC
)

// decoder hands one object event to the feed.
type decoder func(f *Follower, ev *timeline.Event) ([]noderoll.Entry, error)

// New returns a Follower at the beginning of the tape that h heads.
func New(h *timeline.Header, o Options) *Follower {
	f := &Follower{header: h, options: o, feed: noderoll.NewFeed(o.FeedOptions), provider: o.Provider}
	f.decoders.brief.Brief = true
	f.Reset()
	return f
}

// Reset goes back to the beginning of the tape.
func (f *Follower) Reset() {
	f.feed.Reset()
	f.resources, f.nodes = map[string]*resource{}, map[string]*nodeCache{}
	f.budgets, f.known = map[objectName]*policyv1.PodDisruptionBudget{}, map[objectName]*noderoll.Pod{}
	f.groups = map[string]struct{}{}
	f.listing, f.at, f.pods = nil, 0, false
}

// resource finds what the events call by key.
func (f *Follower) resource(key string) *resource {
	if r := f.resources[key]; r != nil {
		return r
	}
	r := &resource{key: key, plural: key}
	known, listed := f.header.Lookup(key)
	if !listed { // a client has defined it since the tape began: nothing that a roll looks at
		f.resources[key] = r
		return r
	}
	r.plural = known.Resource
	switch known.Group + "/" + known.Resource {
	case "/nodes":
		r.decode = (*Follower).node
	case "/pods":
		r.decode = (*Follower).pod
	case "policy/poddisruptionbudgets":
		r.decode = (*Follower).budget
	case "/events", "events.k8s.io/events":
		r.decode = (*Follower).event
	case "cluster.x-k8s.io/machines":
		r.plural, r.decode = known.String(), (*Follower).machine
	case "karpenter.sh/nodeclaims":
		r.plural, r.decode = known.String(), (*Follower).nodeClaim
	default:
		r.plural = known.String()
	}
	f.resources[key] = r
	return r
}

// Apply takes the tape's next event and returns what the feed makes of it; the
// slice is good until the next call. What is in an initial list, or
// between a GAP and its SYNC, shows when that block ends.
//
// An event that can't be read is an error. The Follower then stays where it is.
func (f *Follower) Apply(ev timeline.Event) ([]noderoll.Entry, error) {
	f.entries = f.entries[:0]
	if ev.At > f.at {
		f.settle(nil)
		f.at = ev.At
	}
	switch ev.Type {
	case timeline.Mark:
		f.take(f.feed.Mark(f.at, ev.Name, ev.Reason))
		return f.entries, nil
	case timeline.Refused:
		f.take(f.feed.RefuseEviction(f.at, noderoll.Denial{
			Namespace: ev.Namespace, Name: ev.Name, Budget: ev.ExtraText("budget"), Message: ev.Reason,
		}))
		return f.entries, nil
	case timeline.Added, timeline.Modified, timeline.Deleted, timeline.Sync, timeline.Gap:
	default:
		f.take(f.feed.Advance(f.at))
		return f.entries, nil
	}
	r := f.resource(ev.Resource)
	var err error
	switch {
	case ev.Type == timeline.Gap:
		f.settle(r)
		r.phase = gap
		f.take(f.feed.Gap(f.at, r.plural, ev.Reason))
	case ev.Type == timeline.Sync:
		err = f.sync(r)
	case r.decode == nil:
		f.take(f.feed.Advance(f.at))
	case r.phase == gap:
		r.found.put(ev)
	default:
		f.current = ev
		err = f.object(r, &f.current)
	}
	return f.entries, err
}

func (f *Follower) take(entries []noderoll.Entry) { f.entries = append(f.entries, entries...) }

func (f *Follower) object(r *resource, ev *timeline.Event) error {
	switch {
	case r.phase == fresh:
		r.phase = listing
		f.listing = append(f.listing, r)
	case r.phase == listing && ev.Type != timeline.Added:
		f.settle(r)
	}
	entries, err := r.decode(f, ev)
	f.take(entries)
	return err
}

// settle ends the initial list of one resource, or of all, that no SYNC has
// ended: a tape written by hand may do without.
func (f *Follower) settle(only *resource) {
	rest := f.listing[:0]
	for _, r := range f.listing {
		if only != nil && r != only {
			rest = append(rest, r)
			continue
		}
		if r.phase == listing {
			r.phase = live
			f.synced(r)
		}
	}
	f.listing = rest
}

// listsNodes reports whether the initial list of nodes is still open.
func (f *Follower) listsNodes() bool {
	for _, r := range f.listing {
		if r.plural == noderoll.Nodes && r.decode != nil {
			return true
		}
	}
	return false
}

// sync ends a block: what a list has found takes effect at once.
func (f *Follower) sync(r *resource) error {
	switch r.phase {
	case fresh, listing:
		f.settle(r)
		if r.phase != live {
			r.phase = live
			f.synced(r)
		}
		return nil
	case live:
		f.take(f.feed.Advance(f.at))
		return nil
	}
	r.phase = live
	var first error
	for ev := range r.found.events {
		entries, err := r.decode(f, ev)
		f.take(entries)
		if first == nil {
			first = err
		}
	}
	r.found = block{}
	f.synced(r)
	return first
}

func (f *Follower) synced(r *resource) {
	if r.decode == nil {
		f.take(f.feed.Advance(f.at))
		return
	}
	f.take(f.feed.Synced(f.at, r.plural))
}

// Advance lets the tape's time pass without an event: a drain that is held up
// shows in the feed when it is due, not when the next event comes.
func (f *Follower) Advance(at time.Duration) []noderoll.Entry {
	f.entries = f.entries[:0]
	if at > f.at {
		f.settle(nil)
		f.at = at
	}
	f.take(f.feed.Advance(f.at))
	return f.entries
}

// NextDeadline is the position up to which nothing will show unless an event
// comes; ok is false where nothing is due.
func (f *Follower) NextDeadline() (at time.Duration, ok bool) { return f.feed.NextDeadline() }

// At returns the position on the tape.
func (f *Follower) At() time.Duration { return f.at }

// Now returns the tape's wall time at the position, by which warnings age.
func (f *Follower) Now() time.Time { return f.header.Metadata.Start.Add(f.at) }

// groupOf is the name of the node group that a node says it belongs to.
func (f *Follower) groupOf(n *noderoll.Node) string {
	if f.provider.IsAuto() {
		return noderoll.Detect(n).Pool(n)
	}
	return f.provider.Pool(n)
}

// Groups returns the names of the node groups that the tape has shown so far,
// in scope or not, sorted; "" means nodes that name none.
func (f *Follower) Groups() []string { return slices.Sorted(maps.Keys(f.groups)) }

// HasPods reports whether the tape has shown a pod so far that a roll of pods is
// about.
func (f *Follower) HasPods() bool { return f.pods }

// observes reports whether ev gives a Tracker something to look at: a node's
// event outside of a block, or the end of a block of nodes.
func (f *Follower) observes(ev *timeline.Event) bool {
	if !ev.Type.Object() && ev.Type != timeline.Sync {
		return false
	}
	r := f.resource(ev.Resource)
	if r.decode == nil || r.plural != noderoll.Nodes {
		return false
	}
	if ev.Type == timeline.Sync {
		return r.phase != live
	}
	return r.phase == live || r.phase == listing && ev.Type != timeline.Added
}

// Snapshot implements noderoll.Observer: the group at the position. It never
// fails; a cancelled context is reported.
func (f *Follower) Snapshot(ctx context.Context) (noderoll.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return noderoll.Snapshot{}, err
	}
	return f.feed.Snapshot(f.Now()), nil
}

// OffTarget counts the nodes that are not on target, as the Snapshot says.
func (f *Follower) OffTarget() int { return f.feed.OffTarget() }

// OnTarget reports whether a node is on target.
func (f *Follower) OnTarget() bool { return f.feed.OnTarget() > 0 }

// Images are the image of most nodes off target, and of most on it; "" where there
// is none.
func (f *Follower) Images() (old, young string) { return f.feed.Images() }
