package noderoll

import (
	"slices"
	"strings"
	"time"
)

// BlockedAfter is the time a drain must be held up before a Feed calls it
// blocked. A refused eviction leaves no trace in any object, so it is inferred.
const BlockedAfter = 10 * time.Second

// MarkFailed is the name of the mark that says that the roll has failed. No
// object of a cluster says so: it comes from the recording's maker.
const MarkFailed = "failed"

// The resources that a Feed follows, by their plural, as Synced and Gap take
// them. Those of other names are ignored by Synced, and passed on by Gap.
const (
	Nodes   = "nodes"
	Pods    = "pods"
	Budgets = "poddisruptionbudgets"
	Events  = "events"

	Machines   = "machines.cluster.x-k8s.io"
	NodeClaims = "nodeclaims.karpenter.sh"
)

// Feed turns single changes, each with its time, into Entries: what happened in
// the roll, in the order in which it happened.
//
// Every method takes the time of the change, as the distance from the start.
// Time never goes back: an earlier time counts as the latest one so far. What
// falls due before or at that time (blocked) comes first, with its own time, so
// that the entries are the same however often, or seldom, Advance is called.
//
// Every method returns the entries that it gave rise to. The slice is good until
// the next call. Within one change the order is: what a machine tells, draining of what was cordoned,
// evicted, and then, by name of node, further transitions, pressure, unblocked and warnings; complete comes last.
//
// A resource is unsettled from the start, and after a Gap, until it is Synced:
// what comes meanwhile is a list, not news. At the first Synced of nodes the
// present nodes become what later changes are compared with (and the baseline,
// for Target.Auto), at a later one the differences come out as one observation,
// in the order of Tracker.Observe. Events listed first give no warning.
//
// cordoned means: unschedulable, or with a removal taint, and nothing shows that
// anybody drains the node. draining is told at the first evidence: an eviction or
// deletion of one of its pods, a request to evict one that was refused, a drainer's own mark on the node, its Event, or a condition of the
// node's machine. What
// a Tracker calls draining is the one or the other.
//
// blocked means: every pod that the drain of this node has still to evict is
// refused by budgets, or the server has said that it refuses one of them (RefuseEviction), for BlockedAfter. Pods on their way out are
// not counted. Of a node that is only cordoned it means as well that in its pool
// nobody is drained and nothing has moved for that long: a drain that is refused
// from its first request on shows nothing else. unblocked means that a node that
// was blocked isn't any more and is still cordoned or drained.
//
// requested means that a NodeClaim or Machine of the group came and has no node yet: what the first list of them shows is no
// news. drifted means that one isn't what its owner asks for any more. machine is every other step of theirs, and the
// reason of the condition that they wait for.
//
// complete means: a pool in which a roll was seen in progress (nodes off target,
// and some of the pool on target, joining or draining) now has all nodes Ready
// and on target, and as many as the roll began with, so that its surge is gone and
// the last successor is there; and no other pool is in progress. A pool that was
// resized meanwhile completes when it has been still for StillAfter. One that is
// only scaled isn't in progress: nodes that cluster-autoscaler or Karpenter take
// because they aren't needed begin no roll, and new nodes that no image tells from
// the old ones begin none unless an old one follows within StillAfter. A pool of
// Karpenter, and one that was first seen in the middle of its roll, has no such
// number. A roll back, or the next roll, may complete again. failed is only what
// Fail or MarkFailed says.
//
// # A roll of pods
//
// With StateOptions.Pods the instances are pods, and the Feed tells of them in
// place of nodes, of which only the Warnings are left. Pods are given with
// SetInstance, and settled when pods are Synced. joining, online, notready and
// terminated mean that a pod is new, became Ready, isn't Ready any more though no
// update is under way, and is gone or has ended. updating and updated, or
// rolledback, frame an update of images; resizing and resized one of resources, and
// deferred and infeasible are the kubelet's word on it. A failed entry that names a
// pod is an update that is stuck: its containers can't be pulled or don't stay up,
// or it isn't done within UpdateDeadline. restarted is a container that was replaced
// after its update by something that was none. complete means that all pods are on
// target and Ready, after some weren't.
//
// A Feed is not safe for concurrent use.
type Feed struct {
	opts      FeedOptions
	state     *State
	phases    phaseTracker
	changeSet changeSet
	at        time.Duration
	out       []Entry
	blocks    blockQueue
	rolling   int     // pools in progress
	still     []*pool // that have to rest before it is known what happened to them: see progress

	nodesSettled, eventsSettled, podsSettled bool
	machinesSettled                          map[string]bool // by kind

	touched touched

	seeding     bool // the change is the end of the first list of nodes
	listingPods bool // the change is of the first list of pods, or machines

	late     lateQueue // updates of pods that are not done
	held     []Entry   // of pods, found by listing again
	podsHeld bool
}

// FeedOptions choose what a Feed looks at and shows.
type FeedOptions struct {
	// StateOptions choose the group. A zero Target means Target.Auto here.
	StateOptions
	// Verbose gives every kind; otherwise only those of EventKind.Default.
	Verbose bool
	// BlockedAfter is 10 s if it is 0.
	BlockedAfter time.Duration
	// UpdateDeadline is the time the update of a pod may take before it counts as
	// failed; 10 min if it is 0.
	UpdateDeadline time.Duration
}

// NewFeed returns a Feed that has seen nothing.
func NewFeed(opts FeedOptions) *Feed {
	if opts.BlockedAfter <= 0 {
		opts.BlockedAfter = BlockedAfter
	}
	if opts.UpdateDeadline <= 0 {
		opts.UpdateDeadline = UpdateDeadline
	}
	if t := opts.Target; t.Baseline == nil && t.Image == "" {
		opts.Target.Auto = true
	}
	f := &Feed{opts: opts}
	f.Reset()
	return f
}

// Reset forgets everything but the options: the way to go back in time. Feed
// what is alive at the new position, then Synced for each resource.
func (f *Feed) Reset() {
	*f = Feed{opts: f.opts, state: NewState(f.opts.StateOptions), machinesSettled: make(map[string]bool)}
	f.state.changeSet = &f.changeSet
	if f.state.roll != nil {
		f.state.roll.changeSet = &f.changeSet
	}
}

// SetNode records a node that was added or modified.
func (f *Feed) SetNode(at time.Duration, n Node) []Entry {
	f.begin(at)
	f.state.setNode(&n)
	return f.end()
}

// DeleteNode records the deletion of a node; see State.DeleteNode for uid.
func (f *Feed) DeleteNode(at time.Duration, name, uid string) []Entry {
	f.begin(at)
	f.state.DeleteNode(name, uid)
	return f.end()
}

// SetPod records a pod that was added or modified.
func (f *Feed) SetPod(at time.Duration, p Pod) []Entry {
	f.begin(at)
	f.listingPods = !f.podsSettled
	f.state.setPod(&p)
	return f.end()
}

// SetInstance is SetPod for a pod that the roll may be about; see State.SetInstance.
func (f *Feed) SetInstance(at time.Duration, i Instance) []Entry {
	f.begin(at)
	f.listingPods = !f.podsSettled
	f.state.setInstance(&i)
	return f.end()
}

// Pods reports whether the roll is one of pods.
func (f *Feed) Pods() bool { return f.state.roll != nil }

// Follows is State.Follows.
func (f *Feed) Follows(p Pod) bool { return f.state.Follows(p) }

// DeletePod records the deletion of a pod; see State.DeletePod for uid.
func (f *Feed) DeletePod(at time.Duration, namespace, name, uid string) []Entry {
	f.begin(at)
	f.state.DeletePod(namespace, name, uid)
	return f.end()
}

// RefuseEviction records that the server refused to evict a pod; see
// State.RefuseEviction. It is evidence of a drain, and blocked needs no inference then.
func (f *Feed) RefuseEviction(at time.Duration, d Denial) []Entry {
	f.begin(at)
	f.state.RefuseEviction(d)
	return f.end()
}

// SetBudget records a budget that was added or modified.
func (f *Feed) SetBudget(at time.Duration, b Budget) []Entry {
	f.begin(at)
	f.state.SetBudget(b)
	return f.end()
}

// DeleteBudget records the deletion of a budget.
func (f *Feed) DeleteBudget(at time.Duration, namespace, name string) []Entry {
	f.begin(at)
	f.state.DeleteBudget(namespace, name)
	return f.end()
}

// SetEvent records an Event that was added or modified. It gives one warning
// for each Event, and a further one when its message changes. An Event that
// comes before its node waits for it, up to a minute.
func (f *Feed) SetEvent(at time.Duration, e EventRecord) []Entry {
	f.begin(at)
	if f.eventsSettled && e.drains() {
		f.state.nodeDrains(e.Node())
	}
	if rec := f.state.setEvent(&e); rec != nil && !rec.shown {
		rec.at = f.at
		if !f.eventsSettled {
			rec.shown = true
		} else if f.nodesSettled {
			f.warn(rec)
		} else {
			f.touched.warning(rec)
		}
	}
	return f.end()
}

// DeleteEvent records the deletion of an Event.
func (f *Feed) DeleteEvent(at time.Duration, namespace, name string) []Entry {
	f.begin(at)
	f.state.DeleteEvent(namespace, name)
	return f.end()
}

// Synced says that everything of a resource has been given.
func (f *Feed) Synced(at time.Duration, resource string) []Entry {
	f.begin(at)
	switch resource {
	case Nodes:
		f.settleNodes()
	case Events:
		f.eventsSettled = true
	case Machines:
		f.machinesSettled[kindMachine] = true
	case NodeClaims:
		f.machinesSettled[kindNodeClaim] = true
	case Pods:
		f.podsSettled = true
		f.state.SetPodsError("")
		f.state.CapturePods()
		f.release()
	}
	return f.end()
}

// Gap says that changes of a resource may be missing from here on, until it is
// Synced again.
func (f *Feed) Gap(at time.Duration, resource, reason string) []Entry {
	f.begin(at)
	f.emit(Entry{Kind: EvtGap, Object: resource, Reason: reason})
	switch resource {
	case Nodes:
		f.nodesSettled = false
	case Pods:
		f.podsHeld = true
	}
	return f.end()
}

// Mark sets a named moment; one named MarkFailed is a Fail.
func (f *Feed) Mark(at time.Duration, name, message string) []Entry {
	if name == MarkFailed {
		return f.Fail(at, "", message)
	}
	f.begin(at)
	f.emit(Entry{Kind: EvtMark, Reason: name, Message: message})
	return f.end()
}

// Fail says that the roll has failed, by the word of the caller.
func (f *Feed) Fail(at time.Duration, reason, message string) []Entry {
	f.begin(at)
	f.emit(Entry{Kind: EvtFailed, Reason: reason, Message: message})
	return f.end()
}

// Advance lets time pass without a change.
func (f *Feed) Advance(at time.Duration) []Entry {
	f.begin(at)
	return f.end()
}

// NextDeadline is the earliest time at which Advance may give an entry if nothing
// else happens before.
func (f *Feed) NextDeadline() (at time.Duration, ok bool) {
	if len(f.blocks) > 0 {
		at, ok = f.blocks[0].feed.deadline, true
	}
	if p := f.stillest(); p != nil && (!ok || p.feed.moved+StillAfter < at) {
		at, ok = p.feed.moved+StillAfter, true
	}
	if len(f.late) > 0 { // only a roll of pods has any, and it has nothing of the above
		at, ok = f.late[0].deadline, true
	}
	return at, ok
}

// Found is State.Found.
func (f *Feed) Found() bool { return f.state.Found() }

// At is the latest time that the Feed has seen.
func (f *Feed) At() time.Duration { return f.at }

// Snapshot is the group as it is now; now decides which Warnings are recent.
func (f *Feed) Snapshot(now time.Time) Snapshot { return f.state.Snapshot(now) }

// OffTarget counts the nodes that are not on target, as a Snapshot does, without
// making one.
func (f *Feed) OffTarget() int { return f.state.count.offTarget }

// OnTarget counts the nodes that are on target, without making a Snapshot.
func (f *Feed) OnTarget() int { return f.state.count.total - f.state.count.offTarget }

// Images is State.Images.
func (f *Feed) Images() (old, young string) { return f.state.Images() }

// begin starts a change: what was due before it comes first.
func (f *Feed) begin(at time.Duration) {
	f.out = f.out[:0]
	at = max(at, f.at)
	for {
		next, ok := f.NextDeadline()
		if !ok || next > at || len(f.late) > 0 {
			break
		}
		if p := f.stillest(); p != nil && p.feed.moved+StillAfter == next {
			f.at = max(f.at, next)
			f.rested(p)
			continue
		}
		f.due()
	}
	f.expire(at)
	f.at = at
}

// end ends a change: it reads off the change set what the change has touched.
func (f *Feed) end() []Entry {
	j := &f.changeSet
	for _, p := range j.pools {
		p.feed.moved = f.at
	}
	if len(j.nodes) > 1 {
		slices.SortFunc(j.nodes, func(a, b *nodeRec) int { return strings.Compare(a.name, b.name) })
	}
	for _, rec := range j.nodes {
		if f.nodesSettled && rec.present && rec.feed.uid == rec.view.UID {
			f.drainBegun(rec)
		}
	}
	for _, p := range j.left {
		if p.pool != nil {
			p.pool.feed.moved = f.at
		}
		f.emit(Entry{Kind: EvtEvicted, Node: p.node, Object: "Pod/" + p.namespace + "/" + p.name})
	}
	if f.state.roll != nil {
		f.instances()
		return f.out
	}
	for _, rec := range j.nodes {
		f.renew(rec)
		if f.nodesSettled {
			f.transition(rec)
			f.pressure(rec)
		} else {
			f.touched.node(rec.name)
		}
		f.reviewBlock(rec)
	}
	for _, p := range j.pools {
		if f.nodesSettled {
			f.progress(p)
		} else {
			f.touched.pool(p)
		}
	}
	for _, p := range j.pools {
		f.wake(p)
	}
	f.seeding, f.listingPods = false, false
	j.clear()
	return f.out
}

// emit appends an entry at the present time, if its kind is wanted.
func (f *Feed) emit(e Entry) {
	if f.opts.Verbose || e.Kind.Default() {
		e.At = f.at
		f.out = append(f.out, e)
	}
}
