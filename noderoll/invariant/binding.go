package invariant

import (
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	corev1 "k8s.io/api/core/v1"
)

// How pods come to nodes.
var (
	boundOnce = &Invariant{
		Name:     "bound-once",
		Sentence: "spec.nodeName is set once and never changes.",
		Source:   "kubernetes, pkg/apis/core/validation/validation.go, ValidatePodUpdate; pkg/registry/core/pod/storage/storage.go, BindingREST",
	}
	boundToNode = &Invariant{
		Name:     "bound-to-node",
		Sentence: "A pod is bound to a node that exists.",
		Source:   "kube-scheduler, pkg/scheduler/schedule_one.go: it picks from the nodes of its snapshot",
	}
	boundToOpenNode = &Invariant{
		Name:     "bound-to-open-node",
		Sentence: "A pod that was pending is bound to no node that has long been cordoned or tainted, unless it tolerates that.",
		Source:   "kube-scheduler, pkg/scheduler/framework/plugins/nodeunschedulable and tainttoleration",
	}
)

var bindingInvariants = []*Invariant{boundOnce, boundToNode, boundToOpenNode}

// host is a node name with the pods that are bound to it.
type host struct {
	name  string
	node  *trackedObject // nil while there is no such node
	known bool           // there has been one
	gone  position       // of its last DELETED
	// absent is the last position at which the node may have been absent before it came.
	absent time.Duration
	pods   map[*trackedObject]struct{}
	// noExecute is the last position at which the node had a NoExecute taint.
	noExecute time.Duration
}

func (c *Checker) hostOf(name string) *host {
	x := c.hosts[name]
	if x == nil {
		x = &host{name: name, pods: map[*trackedObject]struct{}{}, noExecute: -1, absent: -quarantineEnds}
		c.hosts[name] = x
	}
	return x
}

// emptied notes a node name that has neither node nor pods any more.
type emptied struct {
	x  *host
	at time.Duration
}

// rememberHost remembers a host for a while once nothing is left of it.
func (c *Checker) rememberHost(x *host) {
	if x.node == nil && len(x.pods) == 0 {
		c.emptied.push(emptied{x, c.at})
	}
}

// forgetHosts forgets the hosts that have been empty for long.
func (c *Checker) forgetHosts() {
	for {
		e, ok := c.emptied.take(func(e *emptied) bool { return e.at+remembered < c.at })
		if !ok {
			return
		}
		if e.x.node == nil && len(e.x.pods) == 0 && c.hosts[e.x.name] == e.x {
			delete(c.hosts, e.x.name)
		}
	}
}

func (c *Checker) nodeCame(h *trackedObject) {
	x := c.hostOf(h.key.name)
	if x.known || c.opts.Skew > 0 && c.at < quarantineEnds {
		x.absent = c.at
	}
	x.node, x.known = h, true
}

// sorted returns the pods of a host by namespace and name.
func (x *host) sorted() []*trackedObject {
	all := make([]*trackedObject, 0, len(x.pods))
	for p := range x.pods {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *trackedObject) int {
		if n := strings.Compare(a.key.namespace, b.key.namespace); n != 0 {
			return n
		}
		return strings.Compare(a.key.name, b.key.name)
	})
	return all
}

// bind follows spec.nodeName.
func (c *Checker) bind(h *trackedObject, o *corev1.Pod, s *step) {
	p, name := h.pod, o.Spec.NodeName
	if name == p.node {
		return
	}
	pending := p.node == ""
	if !pending {
		c.report(h, boundOnce, "spec.nodeName "+orNone(name)+" after "+p.node, "it to stay")
		c.unbind(h)
	}
	p.node = name
	if name == "" {
		return
	}
	x := c.hostOf(name)
	p.host = x
	x.pods[h] = struct{}{}
	if s.Type == ChangeDeleted {
		return
	}
	c.wantNode(h, x, s)
	if pending && !s.first && !s.jump {
		c.openTo(h, o, x)
	}
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

func (c *Checker) unbind(h *trackedObject) {
	if x := h.pod.host; x != nil {
		delete(x.pods, h)
		h.pod.host = nil
		c.rememberHost(x)
	}
}

// wantNode asks for the node of a pod that was bound here, or, where it comes
// from a list, has been: then it may be an orphan.
func (c *Checker) wantNode(h *trackedObject, x *host, s *step) {
	if x.node != nil {
		return
	}
	began := c.here
	if s.jump {
		c.later(orphanTime, func() { c.judgeOrphan(h, x, began) })
		return
	}
	c.later(reaction, func() {
		switch {
		case h.gone || x.node != nil || h.pod.host != x || !c.whole(noderoll.Nodes) && !x.known:
		case !x.known && c.opts.Partial:
		case x.known && x.gone.at+c.opts.tolerance() >= began.at:
		default:
			found := "node " + x.name + ", which isn't there"
			if x.known {
				found = "node " + x.name + ", DELETED at " + string(noderoll.AppendStamp(nil, x.gone.at))
			}
			c.reportAt(began, h, boundToNode, found, "one that exists")
		}
	})
}

// openTo checks that a node wasn't closed long before a pod was bound to it.
func (c *Checker) openTo(h *trackedObject, o *corev1.Pod, x *host) {
	if x.node == nil {
		return
	}
	n, tolerated := x.node.node, tolerationsOf(o.Spec.Tolerations)
	long := c.at - c.opts.tolerance()
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if n.cordoned && n.cordonedAt < long && !tolerated.tolerate(&cordon) {
		c.report(h, boundToOpenNode, "node "+x.name+", cordoned since "+string(noderoll.AppendStamp(nil, n.cordonedAt)), "one that is schedulable")
		return
	}
	for _, t := range n.taints {
		if t.effect != noSchedule && t.effect != noExecute || t.since >= long {
			continue
		}
		taint := corev1.Taint{Key: t.key, Value: t.value, Effect: corev1.TaintEffect(t.effect)}
		if !tolerated.tolerate(&taint) {
			c.report(h, boundToOpenNode, "node "+x.name+" with taint "+t.key+":"+t.effect+" since "+string(noderoll.AppendStamp(nil, t.since)), "a toleration or another node")
			return
		}
	}
}
