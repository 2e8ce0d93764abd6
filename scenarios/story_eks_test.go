package scenarios_test

import (
	"testing"
	"time"
)

// Two new nodes in each zone, then one pass of cordons, then node after node; the
// budget holds all the time, and the group that has grown to twelve shrinks to six.
// https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
func TestSurge(t *testing.T) {
	t.Parallel()
	s := tell(t, "surge")
	old, fresh := s.oldNodes(), s.newNodes()
	is(s, "nodes at the beginning", len(old), 6)
	is(s, "zones of the old nodes", zones(old), "aabbcc")
	is(s, "nodes that join in all", len(fresh), 12)
	is(s, "outcome", s.outcome(), "")

	// Two in each zone, all of them Ready before anything happens to an old node.
	cordon := first(old, cordoned)
	surge := s.nodesThat(func(n *nodeLife) bool { return !n.old() && n.joined < cordon })
	is(s, "zones of the nodes that join first", zones(surge), "aabbcc")
	s.after("the first cordon", cordon, "the last surge node's Ready", last(surge, online))
	s.within("from the last surge node's Ready to the first cordon", cordon-last(surge, online), 15*time.Second, time.Minute)

	// All old nodes are closed in one pass, taken out of load balancers, and tainted.
	s.within("all cordons", last(old, cordoned)-cordon, 0, 5*time.Second)
	for _, n := range old {
		is(s, n.name+" at its cordon: exclude-from-external-load-balancers", n.at(n.cordoned).excluded, "true")
		tainted := n.when(n.cordoned, func(s nodeStep) bool { return s.has("node.kubernetes.io/unschedulable:NoSchedule") })
		s.within(n.name+": from its cordon to its taint", tainted-n.cordoned, 0, time.Second)
		told := s.about(n.name, "kubelet", "NodeNotSchedulable")
		is(s, n.name+": events NodeNotSchedulable", len(told), 1)
		s.within(n.name+": from its cordon to NodeNotSchedulable", told[0].first()-n.cordoned, 0, 11*time.Second)
	}

	// One after another they are drained, left alone for a minute, and terminated.
	is(s, "old nodes on their way out at once", s.drainsAtOnce(old), 1)
	for _, n := range old {
		_, drained := s.drain(n)
		down := goesDown(n)
		s.after(n.name+" goes down", down, "its last pod's end", drained)
		s.within(n.name+": from its drain to its end", down-drained, time.Minute, 3*time.Minute)
		is(s, n.name+": why it isn't Ready", n.at(down).message, "node is shutting down")
		s.within(n.name+": from its shutdown to its deletion", n.gone-down, 5*time.Second, 4*time.Minute)
		is(s, n.name+": events DeletingNode", len(s.about(n.name, "cloud-node-lifecycle-controller", "DeletingNode")), 1)
		s.within(n.name+": RemovingNode after its deletion", s.about(n.name, "node-controller", "RemovingNode")[0].first()-n.gone, 0, 6*time.Second)
	}

	// The budget: at most two pods of web are missing, every one that goes was
	// evicted, and none starts on an old node again.
	least := 12
	for _, b := range s.budget("web").steps {
		is(s, "pods that the budget of web wants", b.desired, 10)
		least = min(least, b.healthy)
	}
	is(s, "healthy pods of web at the least", least, 10)
	for _, p := range s.podsOf("web") {
		if p.leaving != never {
			is(s, p.name+": why it goes", p.target, "EvictionByEvictionAPI")
		}
		if !p.old() {
			is(s, p.name+" starts on an old node", s.node(p.node).old(), false)
		}
	}
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 12)
	is(s, "pods of queue that are ready in the end", s.readyAt("queue", s.end), 2)

	// In the end the surplus goes, one new node at a time.
	done := last(old, nodeGone)
	is(s, "nodes when the last old one is gone and its successor there", len(s.nodesAt(last(fresh, joined))), 12)
	surplus := s.nodesThat(func(n *nodeLife) bool { return !n.old() && n.gone != never })
	is(s, "zones of the new nodes that go again", zones(surplus), "aabbcc")
	s.after("the first new node's cordon", first(surplus, cordoned), "the last old node's end", done)
	closed := times(surplus, cordoned)
	for i := 1; i < len(closed); i++ {
		s.within("between two nodes of the surplus", closed[i]-closed[i-1], 30*time.Second, 10*time.Minute)
	}
	is(s, "nodes in the end", len(s.nodesAt(s.end)), 6)
	s.golden(last(old, cordoned), s.end)
}

// With maxUnavailable 3 three nodes are drained at a time, and the budget alone
// sees to it that no more than two pods are missing.
func TestSurgeOfThree(t *testing.T) {
	t.Parallel()
	s := tell(t, "surge", "maxUnavailable=3")
	is(s, "outcome", s.outcome(), "")
	is(s, "nodes that are drained at once", s.drainsAtOnce(s.oldNodes()), 3)
	for _, b := range s.budget("web").steps {
		if b.healthy < 10 {
			t.Errorf("surge maxUnavailable=3: healthy pods of web at %s: found %d, want 10 and more", b.at, b.healthy)
		}
	}
}

// A script replaces one node at a time: no surge, no pass of cordons.
func TestSurgePlain(t *testing.T) {
	t.Parallel()
	s := tell(t, "surge", "strategy=plain", "maxUnavailable=0")
	is(s, "outcome", s.outcome(), "")
	is(s, "nodes that join in all", len(s.newNodes()), 6)
	is(s, "nodes in the end", len(s.nodesAt(s.end)), 6)
	is(s, "nodes on their way out at once", s.drainsAtOnce(s.oldNodes()), 1)
	closed, gone := times(s.oldNodes(), cordoned), times(s.oldNodes(), nodeGone)
	for i := 1; i < len(closed); i++ {
		s.after("a node's cordon", closed[i], "the end of the one before", gone[i-1])
	}
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 12)
}

// The tape of a kwok cluster has the same transitions, and none of a kubelet's
// events.
func TestSurgeOfKwok(t *testing.T) {
	t.Parallel()
	s := tell(t, "surge", "kubelet=kwok")
	is(s, "outcome", s.outcome(), "")
	is(s, "nodes that join in all", len(s.newNodes()), 12)
	is(s, "nodes in the end", len(s.nodesAt(s.end)), 6)
	for _, reason := range []string{"Starting", "NodeReady", "Killing", "Pulled", "NodeNotSchedulable"} {
		is(s, "a kubelet's events "+reason, len(s.eventsOf("kubelet", reason)), 0)
	}
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 12)
}

// The budget wants every replica: the first drain is refused until its time is
// over, and the update fails; nothing of what runs was touched.
func TestStuckDrain(t *testing.T) {
	t.Parallel()
	s := tell(t, "stuck-drain")
	is(s, "outcome", s.outcome(), "PodEvictionFailure: Reached max retries while trying to evict pods from nodes in node group workers")
	old, fresh := s.oldNodes(), s.newNodes()
	is(s, "old nodes", len(old), 3)
	is(s, "zones of the surge", zones(fresh), "aabbcc")
	for _, n := range s.nodes {
		is(s, n.name+": its end", n.gone, never)
	}
	for _, n := range old {
		s.happens(n.name+": its cordon", n.cordoned)
		is(s, n.name+" in the end: cordoned", n.at(s.end).cordoned, true)
		is(s, n.name+" in the end: Ready", n.at(s.end).ready, "True")
	}
	for _, p := range s.podsOf("web") {
		is(s, p.name+": its deletion", p.leaving, never)
		is(s, p.name+" was there from the beginning", p.old(), true)
	}
	for _, b := range s.budget("web").steps {
		is(s, "disruptions that the budget allows", b.allowed, 0)
	}
	is(s, "marks", len(s.marks), 1)
	is(s, "mark", s.marks[0].Name, "failed")
	// The drain begins up to a minute after the cordons, and has fifteen minutes.
	s.within("from the cordons to the failure", s.marks[0].At-last(old, cordoned), 14*time.Minute+30*time.Second, 16*time.Minute+30*time.Second)
	blocked := s.entries("blocked")
	is(s, "nodes that are blocked", len(blocked), 3)
	s.golden()
}

// With force=true the pods are deleted when the time is over: no condition says
// that they were evicted, the budget isn't asked, and the roll comes to its end.
func TestStuckDrainForced(t *testing.T) {
	t.Parallel()
	s := tell(t, "stuck-drain", "force=true")
	is(s, "outcome", s.outcome(), "")
	old := s.oldNodes()
	for _, n := range old {
		s.happens(n.name+": its end", n.gone)
	}
	moved := 0
	for _, p := range s.podsOf("web") {
		if !s.node(p.node).old() || p.leaving == never {
			continue
		}
		moved++
		is(s, p.name+": its DisruptionTarget", p.target, "")
		is(s, p.name+": its grace", p.grace, int64(30))
	}
	is(s, "pods that were deleted", moved, 6)
	// Each drain lasts for its whole fifteen minutes before that.
	begins := times(where(s.podsOf("web"), func(p *podLife) bool { return s.node(p.node).old() }), leaving)
	s.within("from the cordons to the first deletion", begins[0]-last(old, cordoned), 14*time.Minute+30*time.Second, 16*time.Minute+30*time.Second)
	gone := times(old, nodeGone)
	for i := 1; i < len(gone); i++ {
		s.within("between two old nodes' ends", gone[i]-gone[i-1], 15*time.Minute, 25*time.Minute)
	}
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 6)
	is(s, "nodes in the end", len(s.nodesAt(s.end)), 3)
	s.golden()
}

// A script's drain is refused as well, and gives up.
func TestStuckDrainPlain(t *testing.T) {
	t.Parallel()
	s := tell(t, "stuck-drain", "strategy=plain", "kubelet=kwok", "evictionTimeout=2m")
	is(s, "old nodes that are cordoned", len(times(s.oldNodes(), cordoned)), 1)
	is(s, "old nodes that are gone", len(times(s.oldNodes(), nodeGone)), 0)
	is(s, "pods of web that were deleted", len(times(s.podsOf("web"), leaving)), 0)
	is(s, "rolls that failed", len(where(s.outcomes, func(o string) bool { return o != "" })), 1)
	s.within("from the cordon to the failure", s.marks[0].At-first(s.oldNodes(), cordoned), 2*time.Minute, 3*time.Minute)
}
