package invariant

import (
	"time"

	"github.com/nodesim/nodesim/noderoll"
	corev1 "k8s.io/api/core/v1"
)

// What holds for Events about nodes.
var (
	kubeletEventUID = &Invariant{
		Name:     "kubelet-event-uid",
		Sentence: "In a kubelet's Event about its node, the involved object's uid is the node's name, none, or the node's uid.",
		Source:   "kubelet, pkg/kubelet/kubelet.go, NewMainKubelet: nodeRef.UID was the node name up to 1.34, and is empty since; later kubelets set the node's",
	}
	readinessIsNormal = &Invariant{
		Name:     "readiness-is-normal",
		Sentence: "The Events NodeReady and NodeNotReady of kubelet and node lifecycle controller about a node are of type Normal.",
		Source:   "kubelet, pkg/kubelet/nodestatus/setters.go, ReadyCondition; kube-controller-manager, pkg/controller/util/node/controller_utils.go, RecordNodeStatusChange",
	}
	removingAfter = &Invariant{
		Name:     "removing-after-deleted",
		Sentence: "The Event RemovingNode comes after the DELETED of its node.",
		Source:   "kube-controller-manager, pkg/controller/nodelifecycle/node_lifecycle_controller.go, monitorNodeHealth",
	}
	deletingBefore = &Invariant{
		Name:     "deleting-before-deleted",
		Sentence: "The Event DeletingNode is of a moment no later than 1 s after the DELETED of its node. It may come later: where the API server is away, it is sent again.",
		Source:   "cloud-provider, controllers/nodelifecycle/node_lifecycle_controller.go, MonitorNodes: the Event is made before the request; client-go, tools/record/event.go, recordToSink",
	}
	eventOfNode = &Invariant{
		Name:     "event-of-node",
		Sentence: "The uid that a controller's Event gives to a node is that of the node with this name.",
		Source:   "kube-controller-manager, pkg/controller/util/node/controller_utils.go, RecordNodeEvent",
	}
)

var nodeEventInvariants = []*Invariant{kubeletEventUID, readinessIsNormal, removingAfter, deletingBefore, eventOfNode}

// The components whose Events are looked at.
const (
	componentKubelet   = "kubelet"
	componentLifecycle = "node-controller"
	componentCloud     = "cloud-node-lifecycle-controller"
)

func (c *Checker) nodeEvent(h *trackedObject, o *corev1.Event, s *step) {
	by := o.Source.Component
	if by == "" {
		by = o.ReportingController
	}
	about := &o.InvolvedObject
	uid := string(about.UID)
	switch by {
	case componentLifecycle:
		c.lifecycle = true
	case componentCloud, componentKubelet:
	default:
		return
	}
	if (o.Reason == "NodeReady" || o.Reason == "NodeNotReady") && o.Type != corev1.EventTypeNormal {
		c.report(h, readinessIsNormal, o.Reason+" of type "+orNone(o.Type), "type "+corev1.EventTypeNormal)
	}
	if s.jump || !s.first || uid == "" || uid == about.Name {
		return
	}
	if o.Reason != "RemovingNode" {
		rule := eventOfNode
		if by == componentKubelet {
			rule = kubeletEventUID
		}
		c.rightNode(h, rule, about.Name, uid)
	}
	switch o.Reason {
	case "RemovingNode":
		c.removing(h, about.Name, uid)
	case "DeletingNode":
		c.deleting(h, uid, c.told(o.FirstTimestamp.Time))
	}
}

func (c *Checker) nodeByName(name string) *trackedObject {
	return c.objects[objectKey{resource: noderoll.Nodes, name: name}]
}

// removing wants the node to be gone, or to go before long.
func (c *Checker) removing(h *trackedObject, name, uid string) {
	alive := func() bool { n := c.nodeByName(name); return n != nil && n.uid == uid }
	if !alive() {
		return
	}
	began := c.here
	c.later(0, func() {
		if alive() {
			c.reportAt(began, h, removingAfter, "RemovingNode while node "+name+" is there", "its DELETED first")
		}
	})
}

// told is the position of what an Event tells of, by the time in it: the Event itself may come later. Without one it is the present.
func (c *Checker) told(first time.Time) time.Duration {
	if c.opts.Start.IsZero() || first.IsZero() {
		return c.at
	}
	return min(c.at, first.Sub(c.opts.Start))
}

// deleting wants the node not to have been gone for long at a position.
func (c *Checker) deleting(h *trackedObject, uid string, at time.Duration) {
	died, dead := c.tombstones.dead[uid]
	if dead && died.at+reaction+c.opts.tolerance() < at {
		c.report(h, deletingBefore, "DeletingNode after the node's DELETED at "+string(noderoll.AppendStamp(nil, died.at)), "it before")
	}
}

// rightNode compares the uid with the node of that name. An actor may tell late
// of a node whose name has been taken by the next.
func (c *Checker) rightNode(h *trackedObject, rule *Invariant, name, uid string) {
	wrong := func() (string, bool) {
		n := c.nodeByName(name)
		if n == nil || n.uid == uid || n.uid == "" {
			return "", false
		}
		_, dead := c.tombstones.dead[uid]
		return n.uid, !dead
	}
	if _, no := wrong(); !no {
		return
	}
	began := c.here
	c.later(0, func() {
		if is, no := wrong(); no && !h.gone {
			c.reportAt(began, h, rule, "involvedObject.uid "+uid+" of node "+name, is)
		}
	})
}
