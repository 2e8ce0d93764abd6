package controllers

import (
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
)

const (
	// A daemon's pod that failed is deleted after a second, and each time it
	// fails again on its node after twice as long, up to a quarter of an hour
	// (failedPodsBackoff of cmd/kube-controller-manager/app/apps.go).
	daemonBackoff       = time.Second
	daemonBackoffAtMost = 15 * time.Minute
)

var daemonSetController = kube.Source{Component: "daemonset-controller"}

// daemonSet keeps one pod on every node that its template lets it run on, each
// pinned to its node by its affinity (pkg/controller/daemon/daemon_controller.go).
// Cordons don't concern it. A pod on a node that is gone is left to the pod
// garbage collector, unless it was never bound.
type daemonSet struct {
	*workload
	nodes map[string]*daemonNode
	dirty []*daemonNode
	spare []*daemonNode // room for those of the next sync
	again func()        // sync
}

// daemonNode is the controller's record of a node, or of a node that is gone and whose pod isn't.
type daemonNode struct {
	name     string
	pod      *kube.Pod
	dirty    bool
	failures int
	backoff  time.Duration // no deletion of a failed pod before
	retry    *loop.Timer
}

func newDaemonSet(w *workload) *daemonSet {
	ds := &daemonSet{workload: w, nodes: map[string]*daemonNode{}}
	ds.again = ds.sync
	return ds
}

// daemonTolerations adds what every DaemonSet's pods tolerate
// (AddOrUpdateDaemonPodTolerations of pkg/controller/daemon/util).
func daemonTolerations(own []kube.Toleration, hostNetwork bool) []kube.Toleration {
	all := slices.Clone(own)
	add := func(key, effect string) {
		t := kube.Toleration{Key: key, Operator: "Exists", Effect: effect, Seconds: -1}
		for i := range all {
			if all[i].Key == t.Key && all[i].Effect == t.Effect && all[i].Operator == t.Operator {
				all[i] = t
				return
			}
		}
		all = append(all, t)
	}
	add(component.TaintNotReady, component.EffectNoExecute)
	add(component.TaintUnreachable, component.EffectNoExecute)
	add("node.kubernetes.io/disk-pressure", component.EffectNoSchedule)
	add("node.kubernetes.io/memory-pressure", component.EffectNoSchedule)
	add("node.kubernetes.io/pid-pressure", component.EffectNoSchedule)
	add(component.TaintUnschedulable, component.EffectNoSchedule)
	if hostNetwork {
		add("node.kubernetes.io/network-unavailable", component.EffectNoSchedule)
	}
	return all
}

func (ds *daemonSet) scaled(int) {
	for _, n := range ds.env.API.Nodes() {
		ds.look(ds.at(n.Name))
	}
}

// node tells of a node whose taints or labels may be others than before.
func (ds *daemonSet) node(c kube.Change, old, n *kube.Node) {
	if c == kube.Modified && sameLabels(old.Labels, n.Labels) && slices.Equal(old.Taints, n.Taints) {
		return
	}
	ds.look(ds.at(n.Name))
}

func (ds *daemonSet) changed(c kube.Change, old, p *kube.Pod) {
	at := ds.at(p.Pinned)
	switch {
	case c == kube.Added:
		at.pod = p
	case c == kube.Deleted && at.pod == p:
		at.pod = nil
	case c == kube.Modified && old.Phase == p.Phase:
		return
	}
	if ds.begun {
		ds.look(at)
	}
}

func (ds *daemonSet) at(node string) *daemonNode {
	n := ds.nodes[node]
	if n == nil {
		n = &daemonNode{name: node}
		ds.nodes[node] = n
	}
	return n
}

// look has the controller look at a node.
func (ds *daemonSet) look(n *daemonNode) {
	if !n.dirty {
		n.dirty = true
		ds.dirty = append(ds.dirty, n)
	}
	if !ds.waiting.Pending() { // most nodes that change do so together
		ds.react(ds.again)
	}
}

func (ds *daemonSet) sync() {
	dirty := ds.dirty
	ds.dirty = ds.spare[:0]
	for _, n := range dirty {
		n.dirty = false
		ds.manage(n)
	}
	clear(dirty)
	ds.spare = dirty
}

// manage is podsShouldBeOnNode of one node.
func (ds *daemonSet) manage(n *daemonNode) {
	node := ds.env.API.Node(n.name)
	if node == nil {
		if n.pod != nil && n.pod.NodeName == "" {
			ds.remove(n.pod)
		}
		if n.pod == nil {
			delete(ds.nodes, n.name)
		}
		return
	}
	run, stay := ds.fits(node)
	switch {
	case n.pod == nil && run:
		ds.create(n)
	case n.pod == nil || n.pod.Terminating():
	case stay && n.pod.Terminal():
		ds.ended(n)
	case !stay:
		ds.remove(n.pod)
	}
}

// fits says whether a pod should be started on a node, and whether one that is
// there should stay (NodeShouldRunDaemonPod).
func (ds *daemonSet) fits(n *kube.Node) (run, stay bool) {
	if t := ds.template; !n.Labels.Holds(t.NodeSelector) || t.Demands != nil && !t.Demands.NodeAffinity.Allows(n.Name, n.Labels) {
		return false, false
	}
	run, stay = true, true
	for _, t := range n.Taints {
		if t.Effect != component.EffectNoSchedule && t.Effect != component.EffectNoExecute || component.Tolerated(ds.template, t) {
			continue
		}
		run = false
		stay = stay && t.Effect != component.EffectNoExecute
	}
	return run, stay
}

func (ds *daemonSet) create(n *daemonNode) {
	p := ds.generated()
	p.Pinned = n.name
	if err := ds.env.API.CreatePod(p); err != nil {
		ds.env.Fail(err)
		return
	}
	ds.env.API.Record(daemonSetController, ds.about(), "Normal", "SuccessfulCreate", "Created pod: "+p.Name)
}

// ended deletes a pod that has ended, so that the next sync creates another.
func (ds *daemonSet) ended(n *daemonNode) {
	p := n.pod
	if p.Phase == "Succeeded" {
		ds.env.API.Record(daemonSetController, ds.about(), "Normal", "SucceededDaemonPod",
			fmt.Sprintf("Found succeeded daemon pod %s/%s on node %s, will try to delete it", p.Namespace, p.Name, n.name))
		ds.remove(p)
		return
	}
	if wait := n.backoff - ds.env.Now(); wait > 0 {
		if !n.retry.Pending() {
			n.retry = ds.env.Timer(wait, func() { ds.look(n) })
		}
		return
	}
	if ds.env.Now() > n.backoff+2*daemonBackoffAtMost {
		n.failures = 0 // forgotten (client-go/util/flowcontrol/backoff.go)
	}
	n.backoff = ds.env.Now() + min(daemonBackoff<<min(n.failures, 20), daemonBackoffAtMost)
	n.failures++
	ds.env.API.Record(daemonSetController, ds.about(), "Warning", "FailedDaemonPod",
		fmt.Sprintf("Found failed daemon pod %s/%s on node %s, will try to kill it", p.Namespace, p.Name, n.name))
	ds.remove(p)
}

func (ds *daemonSet) remove(p *kube.Pod) {
	if ds.env.API.DeletePod(p, kube.OwnGrace) {
		ds.env.API.Record(daemonSetController, ds.about(), "Normal", "SuccessfulDelete", "Deleted pod: "+p.Name)
	}
}
