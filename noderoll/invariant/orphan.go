package invariant

import (
	"github.com/nodesim/nodesim/noderoll"
	"time"
)

// What becomes of pods whose node is gone.
var (
	orphansCollected = &Invariant{
		Name:     "orphans-collected",
		Sentence: "The pods of a node are gone 80 s after it: 40 s of quarantine, and up to two rounds of 20 s.",
		Source:   "kube-controller-manager, pkg/controller/podgc/gc_controller.go, quarantineTime and gcCheckPeriod",
	}
	orphansQuarantined = &Invariant{
		Name:     "orphans-quarantined",
		Sentence: "Pod garbage collection takes a pod (DeletionByPodGC) no earlier than 40 s after its node's deletion.",
		Source:   "kube-controller-manager, pkg/controller/podgc/gc_controller.go, gcOrphaned",
	}
)

var unreadiedPods = &Invariant{
	Name:     "unknown-unreadies-pods",
	Sentence: "No pod of a node whose Ready went from True to Unknown is Ready 2 min later.",
	Source:   "kube-controller-manager, pkg/controller/util/node/controller_utils.go, MarkPodsNotReady; 2 min let it through its 20 requests a second",
}

var orphanInvariants = []*Invariant{orphansCollected, orphansQuarantined, unreadiedPods}

// unreadyTime is the time that the controller gets for the pods of a node.
const unreadyTime = 2 * time.Minute

// unready follows a node whose Ready went from True to Unknown. A kubelet that
// was there, and not ready, has said itself what its pods are, and the controller
// lets that stand (monitorNodeHealth).
func (c *Checker) unready(h *trackedObject, unknown bool) {
	n := h.node
	what := ""
	if unknown {
		what = "Ready Unknown"
	}
	if !c.begins(&n.unknown, what) {
		return
	}
	turn, began, x := n.unknown.turn, c.here, c.hostOf(h.key.name)
	c.later(unreadyTime, func() {
		if h.gone || n.unknown.turn != turn || n.unknown.what == "" || !c.lifecycle {
			return
		}
		for _, p := range x.sorted() {
			if p.pod.ready && !p.pod.ended() {
				c.reportAt(began, p, unreadiedPods, "Ready True on node "+x.name+", Unknown since "+string(noderoll.AppendStamp(nil, began.at)), "Ready False")
			}
		}
	})
}

const (
	quarantine = 40 * time.Second
	// quarantineEnds is when the round after a quarantine has come. A node that was away before may be away again then:
	// the controller's queue knows no more than its name (gc_controller.go, discoverDeletedNodes).
	quarantineEnds = quarantine + 20*time.Second
	orphanTime     = 80 * time.Second
)

// nodeGone leaves a node's pods without it.
func (c *Checker) nodeGone(h *trackedObject) {
	x := c.hosts[h.key.name]
	if x == nil || x.node != h {
		return
	}
	x.node, x.gone = nil, c.here
	c.rollGone(h)
	if c.rememberHost(x); len(x.pods) == 0 {
		return
	}
	gone := c.here
	c.later(orphanTime, func() {
		for _, p := range x.sorted() {
			c.judgeOrphan(p, x, gone)
		}
	})
}

// judgeOrphan reports a pod that is still there although its node has been gone
// since a position.
func (c *Checker) judgeOrphan(h *trackedObject, x *host, since position) {
	if h.gone || x.node != nil || h.pod.host != x || h.finalizers || !c.lifecycle || x.gone.at > since.at {
		return
	}
	if !x.known && (c.opts.Partial || !c.whole(noderoll.Nodes)) {
		return
	}
	c.reportAt(since, h, orphansCollected, "it still there, "+orphanTime.String()+" after node "+x.name, "DELETED by pod garbage collection")
}

func (c *Checker) podGone(h *trackedObject) {
	c.rollPodGone(h)
	c.coverPodGone(h)
	c.unbind(h)
}
