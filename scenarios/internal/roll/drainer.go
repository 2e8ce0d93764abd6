package roll

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// A Drain says how to empty a node.
type Drain struct {
	// Retry is the time from a refused eviction to the next try.
	Retry model.Dist
	// Timeout ends the drain; 0 never does.
	Timeout time.Duration
	// Force deletes what is left then, instead of giving up. What is there when the same time has passed once more stays,
	// or, with ForceOnce, when the longest grace period of what it deleted has.
	Force, ForceOnce bool
	// Expires deletes each pod, whatever holds it up, early enough for its grace period to end at Timeout, and ends the
	// drain SkipAfter later, whatever is left. Expired is told of each that is deleted.
	Expires bool
	Expired func(p *kube.Pod, grace int64)
	// Takes says which pods have to leave; nil is all but those of DaemonSets and
	// of the node itself, as `kubectl drain --ignore-daemonsets --force` has it
	// (k8s.io/kubectl/pkg/drain/filters.go). Pods that have ended are deleted, and
	// one that a finalizer holds is there until it is gone.
	Takes func(*kube.Pod) bool
	// Evicts says which of them the drain evicts; the others it only waits for. Nil is all.
	Evicts func(*kube.Pod) bool
	// Skips says which pods aren't waited for any more that are still there SkipAfter past their deletionTimestamp,
	// as on a node whose kubelet is silent; nil is none.
	Skips     func(*kube.Pod) bool
	SkipAfter time.Duration
	// Stage says in which order: a stage begins when nothing is left of the lower
	// ones. Nil is all at once.
	Stage func(*kube.Pod) int
	// Evicted is told of each eviction that was granted, Refused of each that
	// wasn't, Looked of how many pods there are left at each look that doesn't
	// end the drain.
	Evicted func(*kube.Pod)
	Refused func(*kube.Pod, *kube.Refusal)
	Looked  func(left int)
}

// Stuck is the error of a drain whose time is over.
type Stuck struct {
	Node string
	Pods []string // namespace/name of what is left, sorted
}

func (s *Stuck) Error() string {
	return fmt.Sprintf("drain of %s: %d pods left: %s", s.Node, len(s.Pods), strings.Join(s.Pods[:min(len(s.Pods), 3)], ", "))
}

// Drainer empties nodes through the eviction API. One serves any number of nodes,
// each of which it drains once at a time.
type Drainer struct {
	env    *component.Env
	watch  kube.Watch // of the pods on nodes that are being drained
	byNode map[string]*drain
}

// NewDrainer returns a drainer; it watches pods.
func NewDrainer(env *component.Env) *Drainer {
	ds := &Drainer{env: env, byNode: map[string]*drain{}}
	ds.watch = env.API.WatchPodsOn(func(c kube.Change, old, p *kube.Pod) {
		if c == kube.Added || c == kube.Modified && p.Terminal() == old.Terminal() {
			return
		}
		if d := ds.byNode[p.NodeName]; d != nil {
			d.soon(0)
		}
	})
	return ds
}

// Drain evicts what has to leave a node, and calls done when that is gone, or
// with a *Stuck. A drain of the node that is under way is cancelled.
func (ds *Drainer) Drain(n *kube.Node, how Drain, done func(error)) {
	if how.Takes == nil {
		how.Takes = Leaves
	}
	ds.Cancel(n.Name)
	d := &drain{ds: ds, node: n.Name, how: how, done: done, chance: ds.env.Stream("drain", n.UID), retries: map[*kube.Pod]kube.Instant{}}
	d.end = ds.env.API.Now().Add(how.Timeout)
	ds.byNode[n.Name] = d
	ds.watch.Follow(n.Name)
	if how.Timeout > 0 {
		limit := how.Timeout
		if how.Expires {
			limit += how.SkipAfter
		}
		d.limit = ds.env.Timer(limit, d.timeout)
	}
	d.look()
}

// Cancel ends the drain of a node without calling its callback. Pods that were evicted go on leaving.
func (ds *Drainer) Cancel(node string) {
	if d := ds.byNode[node]; d != nil {
		d.close()
	}
}

// CancelAll cancels all drains.
func (ds *Drainer) CancelAll() {
	for _, d := range ds.byNode { // to close them has no order
		d.close()
	}
}

// drain is a drain in progress.
type drain struct {
	ds      *Drainer
	node    string
	how     Drain
	chance  model.Stream
	done    func(error)
	limit   *loop.Timer
	end     kube.Instant               // what Timeout comes to
	expired map[*kube.Pod]kube.Instant // when a pod that was deleted for it, and is still there, is deleted again
	next    *loop.Timer                // the next look, and when
	at      time.Duration              // of next
	forced  bool                       // what is left was deleted
	over    bool                       //
	retries map[*kube.Pod]kube.Instant // when a refused eviction is tried again
}

// Leaves reports whether a pod has to leave a node that is drained.
func Leaves(p *kube.Pod) bool {
	return p.Owner == nil || p.Owner.Kind != "DaemonSet" && p.Owner.Kind != "Node"
}

// soon has the drain look again from the loop, at the earliest of the moments
// that it was asked for.
func (d *drain) soon(after time.Duration) {
	at := d.ds.env.Now() + after
	if d.over || d.next.Pending() && d.at <= at {
		return
	}
	d.next.Stop()
	d.at = at
	d.next = d.ds.env.Timer(after, d.look)
}

// look evicts what is there, and ends the drain where nothing is.
func (d *drain) look() {
	if d.over {
		return
	}
	env := d.ds.env
	now := env.API.Now()
	pods := d.left()
	left := len(pods)
	var next kube.Instant
	until := func(at kube.Instant) {
		if at != 0 && (next == 0 || at < next) {
			next = at
		}
	}
	until(d.expire(pods, now))
	for _, p := range d.stage(pods) {
		if p.Gone() {
			left--
			continue
		}
		if p.Terminating() || d.forced || d.expired[p] != 0 {
			until(d.skipped(p, now))
			continue
		}
		if d.how.Evicts != nil && !d.how.Evicts(p) {
			until(now.Add(skipPoll)) // somebody may let it go
			continue
		}
		at := d.retries[p]
		if at <= now {
			if d.evict(p) {
				if p.Gone() {
					left--
				}
				until(d.skipped(p, now))
				continue
			}
			at = now.Add(max(env.Draw(&d.chance, d.how.Retry), time.Millisecond))
			d.retries[p] = at
		}
		until(at)
	}
	if d.over {
		return
	}
	if left == 0 {
		d.finish(nil)
		return
	}
	if d.how.Looked != nil {
		d.how.Looked(left)
	}
	if next != 0 {
		d.soon(next.Sub(now))
	}
}

// expire deletes the pods that need the time until the drain's end for their grace period, and returns when the next one will.
func (d *drain) expire(pods []*kube.Pod, now kube.Instant) (next kube.Instant) {
	if !d.how.Expires || d.how.Timeout == 0 {
		return 0
	}
	for _, p := range pods {
		if p.Gone() || p.Terminating() {
			continue
		}
		at, again := d.expired[p]
		if !again {
			at = d.end.Add(-time.Duration(p.Template.GraceSeconds) * time.Second)
		}
		if at <= now {
			grace := max(int64(d.end.Sub(now)/time.Second), 0)
			if d.how.Expired != nil && !again {
				d.how.Expired(p, grace)
			}
			at = now.Add(expireAgain)
			if d.expired == nil {
				d.expired = map[*kube.Pod]kube.Instant{}
			}
			d.expired[p] = at
			if d.ds.env.API.DeletePod(p, grace); p.Terminating() || p.Gone() {
				continue
			}
		}
		if next == 0 || at < next {
			next = at
		}
	}
	return next
}

// evict asks for the eviction of a pod, and reports whether it was granted.
func (d *drain) evict(p *kube.Pod) bool {
	if no := d.ds.env.API.Evict(p); no != nil {
		if d.how.Refused != nil {
			d.how.Refused(p, no)
		}
		return false
	}
	delete(d.retries, p)
	if d.how.Evicted != nil {
		d.how.Evicted(p)
	}
	return true
}

// expireAgain is between two tries to delete a pod: an API server may refuse one.
const expireAgain = 5 * time.Second

// forcedStop is what pods get beyond their grace period that were deleted by force: for their kubelet to kill them and to say so.
const forcedStop = 30 * time.Second

// skipPoll is between two looks at a pod that is overdue.
const skipPoll = 20 * time.Second

// left are the pods that have to leave and haven't.
func (d *drain) left() []*kube.Pod {
	var out []*kube.Pod
	now := d.ds.env.API.Now()
	for _, p := range d.ds.env.API.PodsOn(d.node) {
		if d.how.Takes(p) && !d.skips(p, now) {
			out = append(out, p)
		}
	}
	return out
}

// skipped is when a pod that leaves may be skipped, or is to be looked at again; 0 where none is.
func (d *drain) skipped(p *kube.Pod, now kube.Instant) kube.Instant {
	switch {
	case d.how.Skips == nil || p.Gone():
		return 0
	case !p.Terminating(): // the API server of a live run has still to say that it is
		return now.Add(skipPoll)
	}
	if at := p.Deleting.Add(d.how.SkipAfter); at > now {
		return at
	}
	return now.Add(skipPoll)
}

func (d *drain) skips(p *kube.Pod, now kube.Instant) bool {
	return d.how.Skips != nil && p.Terminating() && p.Deleting.Add(d.how.SkipAfter) <= now && d.how.Skips(p)
}

// stage returns the pods whose turn it is.
func (d *drain) stage(pods []*kube.Pod) []*kube.Pod {
	if d.how.Stage == nil || len(pods) == 0 {
		return pods
	}
	lowest := d.how.Stage(pods[0])
	for _, p := range pods[1:] {
		lowest = min(lowest, d.how.Stage(p))
	}
	return slices.DeleteFunc(slices.Clone(pods), func(p *kube.Pod) bool { return d.how.Stage(p) != lowest })
}

func (d *drain) timeout() {
	pods := d.left()
	switch {
	case len(pods) == 0 || d.how.Expires:
		d.finish(nil)
	case !d.how.Force:
		s := &Stuck{Node: d.node}
		for _, p := range pods {
			s.Pods = append(s.Pods, p.Namespace+"/"+p.Name)
		}
		slices.Sort(s.Pods)
		d.finish(s)
	case d.forced: // a second time: whatever holds them, the machine goes
		d.finish(nil)
	default:
		d.forced = true
		var grace time.Duration
		for _, p := range pods {
			if !p.Terminating() {
				grace = max(grace, time.Duration(p.Template.GraceSeconds)*time.Second)
			}
			d.ds.env.API.DeletePod(p, kube.OwnGrace)
		}
		again := d.how.Timeout
		if d.how.ForceOnce {
			again = min(grace+forcedStop, again)
		}
		d.limit = d.ds.env.Timer(again, d.timeout)
		d.soon(0)
	}
}

func (d *drain) finish(err error) {
	d.close()
	d.done(err)
}

func (d *drain) close() {
	d.over = true
	d.limit.Stop()
	d.next.Stop()
	if d.ds.byNode[d.node] == d {
		delete(d.ds.byNode, d.node)
		d.ds.watch.Drop(d.node)
	}
}
