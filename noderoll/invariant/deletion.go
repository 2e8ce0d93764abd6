package invariant

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// How objects go.
var (
	deletionFinal = &Invariant{
		Name:     "deletion-is-final",
		Sentence: "A deletionTimestamp is never taken back. It moves to an earlier time only, or, when it has passed, to the moment of a request for less grace.",
		Source:   "apiserver, pkg/registry/rest/delete.go, BeforeDelete; to the moment of the request since 1.33",
	}
	graceShrinks = &Invariant{
		Name:     "grace-shrinks",
		Sentence: "A deletionTimestamp, but a Namespace's or a CustomResourceDefinition's, comes with a deletionGracePeriodSeconds, not negative, which is only ever shortened.",
		Source:   "apiserver, pkg/registry/rest/delete.go, BeforeDelete; pkg/registry/core/namespace/storage/storage.go, Delete; apiextensions-apiserver, pkg/registry/customresourcedefinition/etcd.go, Delete",
	}
	graceFromRequest = &Invariant{
		Name:     "grace-from-request",
		Sentence: "The first deletionTimestamp is the moment of the request plus the grace: not before the object's creation, and as far ahead as the grace says.",
		Source:   "apiserver, pkg/registry/rest/delete.go, BeforeDelete",
	}
	podGoesInTime = &Invariant{
		Name:     "pod-goes-in-time",
		Sentence: "A pod without finalizers on a node that is Ready has ended, or is DELETED, within 60 s of its deletionTimestamp.",
		Source:   "Kubernetes documentation, Pod Lifecycle, \"Termination of Pods\"; kubelet, pkg/kubelet/pod_workers.go, and kubelet.go, SyncTerminatedPod: a pod that has ended waits for the unmount of its volumes, without a bound; 60 s, since a node counts as Ready for up to 55 s after its kubelet fell silent",
	}
)

var deletionInvariants = []*Invariant{deletionFinal, graceShrinks, graceFromRequest, podGoesInTime}

// killTime is the time that a kubelet gets for the rest of a pod once its grace is over:
// longer than a dead kubelet's node stays Ready (a grace of 50 s, looked at every
// 5 s), so that no actor is blamed for a pod whose node is about to be Unknown.
const killTime = 60 * time.Second

// withoutGrace are the resources whose objects have their deletionTimestamp from storage of their own.
var withoutGrace = []string{"other/namespaces", "other/customresourcedefinitions"}

// deletion checks deletionTimestamp and its grace.
func (c *Checker) deletion(h *trackedObject, s *step) {
	o := s.Object
	until := timeOf(o.GetDeletionTimestamp())
	grace, has := int64(0), false
	if p := o.GetDeletionGracePeriodSeconds(); p != nil {
		grace, has = *p, true
	}
	was, wasGrace := h.deletion, h.grace
	h.deletion, h.grace = until, grace
	if !was.IsZero() {
		// Since 1.33 a request for less grace moves a deletionTimestamp to its own moment, where it would be
		// in the past: later than it was, if the pod's time was over. The new grace is 0, or 1 s.
		hurried := has && grace < wasGrace && grace <= 1 && c.momentOf(until, s.jump)
		switch {
		case until.IsZero():
			c.report(h, deletionFinal, "no deletionTimestamp after "+stamp(was), "it to stay")
		case until.After(was) && !hurried:
			c.report(h, deletionFinal, "deletionTimestamp "+stamp(until)+" with a grace of "+itoa(grace)+" s after "+stamp(was)+" with one of "+itoa(wasGrace)+" s",
				"no later one, but for the moment of a request for 0 or 1 s")
		case has && grace > wasGrace:
			c.report(h, graceShrinks, "a grace of "+itoa(grace)+" s after "+itoa(wasGrace)+" s", "no longer one")
		}
	}
	if until.IsZero() {
		return
	}
	if !has && slices.Contains(withoutGrace, h.key.resource) {
		return
	}
	if !has || grace < 0 {
		found := "no deletionGracePeriodSeconds"
		if has {
			found = "deletionGracePeriodSeconds " + itoa(grace)
		}
		c.report(h, graceShrinks, found, "0 or more beside a deletionTimestamp")
		return
	}
	if was.IsZero() && !s.first && !s.jump && s.Type == ChangeModified {
		c.requested(h, until.Add(-seconds(grace)))
	}
}

// seconds is a number of seconds; absurd ones are cut.
func seconds(n int64) time.Duration {
	const most = int64(1 << 32)
	return time.Duration(min(max(n, -most), most)) * time.Second
}

// momentOf reports whether a time of the API server's clock, in whole seconds, can
// be that of this change, or of a change before it where a list shows the state.
func (c *Checker) momentOf(t time.Time, jump bool) bool {
	now, ok := c.now()
	if !ok {
		return true
	}
	if t.After(now.Add(c.opts.tolerance())) {
		return false
	}
	return jump || !c.clocked || !t.Before(now.Add(-time.Second-c.opts.Lag))
}

// requested checks when the deletion of an object was asked for, as its state
// says: in whole seconds of the API server's clock.
func (c *Checker) requested(h *trackedObject, at time.Time) {
	if at.Before(h.created.Add(-time.Second - c.opts.Slack)) {
		c.report(h, graceFromRequest, "deletion asked for at "+stamp(at)+", created at "+stamp(h.created), "it after the creation")
	}
	if now, _ := c.now(); !c.momentOf(at, false) {
		c.report(h, graceFromRequest, "deletionTimestamp minus grace "+stamp(at)+" at "+stamp(now), "the time of the request")
	}
}

// endingPod asks for the end of a pod whose deletion has begun, or whose
// deletionTimestamp has moved.
func (c *Checker) endingPod(h *trackedObject) {
	now, ok := c.now()
	if !ok || !c.clocked || h.deletion.IsZero() || h.deletion.Equal(h.pod.ending) || h.pod.node == "" {
		return
	}
	h.pod.ending = h.deletion
	until, began := h.deletion, c.here
	bound := max(0, until.Sub(now)) + killTime
	c.later(bound, func() {
		if h.gone || h.pod.ended() || !h.deletion.Equal(until) || h.finalizers || !c.aliveSince(h.pod.node, began.at) {
			return
		}
		c.reportAt(began, h, podGoesInTime, "it still there, with deletionTimestamp "+stamp(until), "it ended or DELETED by now, as its node is Ready and it has no finalizer")
	})
}

// aliveSince reports whether a node has been Ready from a position on.
func (c *Checker) aliveSince(name string, at time.Duration) bool {
	n := c.objects[objectKey{resource: noderoll.Nodes, name: name}]
	return n != nil && n.node != nil && n.node.ready && n.node.readySince <= at
}
