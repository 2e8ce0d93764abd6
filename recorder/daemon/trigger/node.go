package trigger

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
)

// node is what is kept of a living node.
type node struct {
	uid, group string
	since      time.Time // when what a roll shows of it changed last
	drain      time.Time // when it was first seen on its way out; zero where it isn't
	found      bool      // it was on its way out when the recording began
	listed     bool      // it is as it was when the recording began
	shown
}

// shown is the part of a node's state that rolls are made of.
type shown struct {
	cordoned, deleting, ready bool
	removal, notice           string // the taints
}

// underWay reports whether a node is to go, is on its way back, or isn't there yet.
func (s *shown) underWay() bool {
	return s.cordoned || s.deleting || !s.ready || s.removal != "" || s.notice != ""
}

// leaves says how a node is on its way out, or may have to go, "" where it isn't.
func (s *shown) leaves() string {
	switch {
	case s.deleting:
		return "was being deleted"
	case s.cordoned:
		return "was cordoned"
	case s.removal != "":
		return "had the taint " + s.removal
	case s.notice != "":
		return "had the notice " + s.notice
	}
	return ""
}

// drains keeps the time since which a node is on its way out.
func (n *node) drains(at time.Time) {
	switch out := n.cordoned || n.deleting || n.removal != ""; {
	case !out:
		n.drain, n.found = time.Time{}, false
	case n.drain.IsZero():
		n.drain = at
	}
}

// Drains returns, for each group, how long its node takes that was first on its way out, whether or not its roll is still on: one that
// waits for a budget shows nothing for hours. Nodes that were on their way out when the recording began count during a roll alone.
func (d *Decider) Drains(now time.Time) map[string]time.Duration {
	longest := map[string]time.Duration{}
	for _, n := range d.nodes {
		if !n.drain.IsZero() && (!n.found || d.open[n.group] != nil) {
			longest[n.group] = max(longest[n.group], now.Sub(n.drain))
		}
	}
	return longest
}

// notices are taints by which clouds and their agents announce that an instance will be interrupted, or that it is. Those of
// aws-node-termination-handler are in its pkg/node/node.go, impending-node-termination is GKE's (cluster-autoscaler,
// cloudprovider/gce), shutdown is the cloud-provider's (k8s.io/cloud-provider/api, TaintNodeShutdown).
var notices = []string{
	"aws-node-termination-handler/spot-itn",
	"aws-node-termination-handler/rebalance-recommendation",
	"aws-node-termination-handler/asg-lifecycle-termination",
	"aws-node-termination-handler/scheduled-maintenance",
	"cloud.google.com/impending-node-termination",
	"node.cloudprovider.kubernetes.io/shutdown",
	corev1.TaintNodeOutOfService,
}

// Announces reports whether a taint of this key says that its node is to go, or may have to.
func Announces(key string) bool {
	return slices.Contains(notices, key) || removes(key)
}

// removes reports whether a taint of this key says that its node is to go. That of a cordon is known by the node's spec.
func removes(key string) bool {
	return key != corev1.TaintNodeUnschedulable && noderoll.BeingRemoved([]string{key}, nil)
}

// events of nodes that an agent's condition announces: AKS' node problem detector sets VMEventScheduled while the platform
// has an event for the machine (aksdocs, node-auto-repair and scheduled events).
const conditionScheduled = "VMEventScheduled"

// node takes an event of a node.
func (d *Decider) node(at time.Time, ev *timeline.Event) {
	was := d.nodes[ev.Name]
	if was != nil && (ev.Type == timeline.Deleted || ev.UID != "" && ev.UID != was.uid) {
		delete(d.nodes, ev.Name)
		d.begin(at, was.group, was.found, trigger(ev, Gone, time.Time{}, "node "+ev.Name+" was deleted"))
		was = nil
	}
	if ev.Type == timeline.Deleted {
		return
	}
	is, when := d.read(ev)
	if was == nil {
		d.nodes[ev.Name] = is
		is.since = at
		is.drains(at)
		if !d.synced[ev.Resource] {
			is.found, is.listed = !is.drain.IsZero(), d.options.Begins
			if how := is.leaves(); how != "" {
				d.find(at, is.group, ev, "node "+ev.Name+" "+how)
			}
			return // what there is at the beginning
		}
		was = &node{shown: shown{}}
	} else {
		if is.group != was.group {
			d.happened(at, was.group)
			d.happened(at, is.group)
		}
		old := *was
		was.uid, was.group = is.uid, is.group
		if was.shown == is.shown {
			return
		}
		was.shown, was.since, was.listed = is.shown, at, false
		was.drains(at)
		is, was = was, &old
	}
	kind, t, reason := became(&was.shown, &is.shown, when)
	if kind == "" {
		d.happened(at, is.group)
		return
	}
	d.begin(at, is.group, is.found, trigger(ev, kind, t, "node "+ev.Name+" "+reason))
}

// became says what of a change of a node begins a roll.
func became(was, is *shown, when times) (Kind, time.Time, string) {
	switch {
	case is.notice != "" && is.notice != was.notice:
		return Notice, when.taint, "has the notice " + is.notice
	case is.cordoned && !was.cordoned:
		return Cordon, time.Time{}, "was cordoned"
	case is.removal != "" && is.removal != was.removal:
		return Cordon, when.taint, "has the taint " + is.removal
	case is.deleting && !was.deleting:
		return Deletion, when.deleted, "is being deleted"
	case was.ready && !is.ready:
		return NotReady, when.ready, "is not Ready"
	}
	return "", time.Time{}, ""
}

// times are what a node's object says of when something became so.
type times struct{ taint, deleted, ready time.Time }

// read reads a node's object.
func (d *Decider) read(ev *timeline.Event) (*node, times) {
	d.object = corev1.Node{Spec: corev1.NodeSpec{Taints: d.object.Spec.Taints[:0]}, Status: corev1.NodeStatus{Conditions: d.object.Status.Conditions[:0]}}
	d.decoder.Node(&d.object, ev.Object)
	o := &d.object
	of := noderoll.Node{Name: ev.Name, Labels: o.Labels, Annotations: o.Annotations}
	n, when := &node{uid: ev.UID}, times{}
	n.group = d.group(noderoll.Detect(&of).Pool(&of))
	n.cordoned = o.Spec.Unschedulable
	if n.deleting = o.DeletionTimestamp != nil; n.deleting {
		when.deleted = o.DeletionTimestamp.Time
	}
	for _, t := range o.Spec.Taints {
		switch {
		case slices.Contains(notices, t.Key):
			n.notice = t.Key
		case removes(t.Key):
			n.removal = t.Key
		default:
			continue
		}
		if t.TimeAdded != nil {
			when.taint = t.TimeAdded.Time
		}
	}
	for _, c := range o.Status.Conditions {
		switch {
		case c.Type == corev1.NodeReady:
			n.ready = c.Status == corev1.ConditionTrue
			when.ready = c.LastTransitionTime.Time
		case c.Type == conditionScheduled && c.Status == corev1.ConditionTrue && n.notice == "":
			n.notice, when.taint = conditionScheduled, c.LastTransitionTime.Time
		}
	}
	return n, when
}
