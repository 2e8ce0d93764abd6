package calibrate

import (
	"slices"

	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
)

// A node is a Node, as far as samples need it.
type node struct {
	uid string
	nodeState
	joined   mark // it was created while the tape ran
	served   bool // it has been ready since
	kubelet  mark // its kubelet had started
	proxied  bool // kube-proxy has reported its start
	cordoned mark // by this write
	tainted  bool // the taint of that cordon has come
}

// nodeState is what a Node says.
type nodeState struct {
	ready, unschedulable bool
	uninitialized        bool // the cloud has yet to initialize it
	closed               bool // it has the taint of a cordon
	group                string
}

// taintUninitialized is the taint that a cloud's controller removes (k8s.io/cloud-provider/api).
const taintUninitialized = "node.cloudprovider.kubernetes.io/uninitialized"

func (r *reading) node(ev *timeline.Event, live bool) {
	n := r.nodes[ev.Name]
	if n != nil && (ev.Type == timeline.Deleted || n.uid != ev.UID) {
		r.nodeGone(n, ev.Name)
		n = nil
	}
	if ev.Type == timeline.Deleted {
		return
	}
	is := r.nodeState(ev.Object)
	if n == nil {
		n = &node{uid: ev.UID, nodeState: is}
		r.nodes[ev.Name] = n
		if live && ev.Type == timeline.Added && !is.ready {
			r.nodeJoins(n, ev.Name)
		}
		r.tally(n, 1)
		return
	}
	was := n.nodeState
	r.tally(n, -1)
	n.nodeState = is
	first := is.ready && n.joined.is && !n.served
	n.served = n.served || is.ready
	r.tally(n, 1)
	if first {
		r.add("becomeReady", n.joined, r.here())
		r.group(is.group).settled(r, n)
	}
	if was.uninitialized && !is.uninitialized && n.joined.is {
		r.add("cloudInitialize", n.joined, r.here())
	}
	switch {
	case !is.unschedulable:
		n.cordoned = mark{}
	case !was.unschedulable:
		n.cordoned, n.tainted = r.here(), is.closed
		r.group(is.group).continues(r)
	case is.closed && n.cordoned.is && !n.tainted:
		n.tainted = true
		r.add("conditionTaint", n.cordoned, r.here())
	}
}

// nodeJoins takes a Node that was created now.
func (r *reading) nodeJoins(n *node, name string) {
	n.joined = r.here()
	r.group(n.group).busy(r)
	if started := r.starts[name]; started.is {
		delete(r.starts, name)
		n.registers(r, started)
	}
	if m := r.named[name]; m != nil {
		m.boots(r, n)
	}
}

func (n *node) registers(r *reading, started mark) {
	n.kubelet = started
	r.add("register", started, n.joined)
}

func (r *reading) nodeGone(n *node, name string) {
	n.close(r)
	r.tally(n, -1)
	r.group(n.group).busy(r)
	delete(r.nodes, name)
}

// close takes what had not ended when the node was removed, or when the tape ended.
func (n *node) close(r *reading) {
	if !n.joined.is {
		return
	}
	if !n.served {
		r.leave("becomeReady", n.joined, r.here())
	}
	if n.uninitialized {
		r.leave("cloudInitialize", n.joined, r.here())
	}
}

// kubeletStarts takes the Event of a kubelet that starts, which it does before there is its Node. A recorder that waits for the
// Node writes the Event after it.
func (r *reading) kubeletStarts(name string, when mark) {
	switch n := r.nodes[name]; {
	case n == nil:
		r.starts[name] = when
	case n.joined.is && !n.kubelet.is && when.at < n.joined.at:
		n.registers(r, when)
	}
}

// proxyStarts takes the Event of a kube-proxy.
func (r *reading) proxyStarts(name string, when mark) {
	if n := r.nodes[name]; n != nil && n.joined.is && !n.proxied {
		n.proxied = true
		r.add("kubeProxyStart", n.joined, when)
	}
}

// serves reports whether a node is ready, as far as the tape has it.
func (r *reading) serves(name string) bool {
	n := r.nodes[name]
	return n == nil || n.ready
}

func (r *reading) nodeState(object []byte) nodeState {
	n := &r.aNode
	*n = corev1.Node{
		Spec:   corev1.NodeSpec{Taints: n.Spec.Taints[:0]},
		Status: corev1.NodeStatus{Conditions: n.Status.Conditions[:0]},
	}
	r.decoder.Node(n, object)
	is := nodeState{unschedulable: n.Spec.Unschedulable}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			is.ready = c.Status == corev1.ConditionTrue
		}
	}
	has := func(key string) bool {
		return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
	}
	is.uninitialized, is.closed = has(taintUninitialized), has(corev1.TaintNodeUnschedulable)
	for _, label := range r.labels {
		if is.group = n.Labels[label]; is.group != "" {
			break
		}
	}
	return is
}
