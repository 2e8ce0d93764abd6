package scenarios_test

import (
	"strings"
	"testing"
	"time"
)

// No surge: drained and terminated first, replaced afterwards, one at a time.
func TestMinimal(t *testing.T) {
	t.Parallel()
	s := tell(t, "minimal")
	is(s, "outcome", s.outcome(), "")
	fewest, most := s.nodesAtOnce()
	is(s, "nodes at the least", fewest, 2)
	is(s, "nodes at the most", most, 3)
	is(s, "nodes that join in all", len(s.newNodes()), 3)
	is(s, "nodes on their way out at once", s.drainsAtOnce(s.oldNodes()), 1)
	closed, gone, ready := times(s.oldNodes(), cordoned), times(s.oldNodes(), nodeGone), times(s.newNodes(), online)
	for i := range gone {
		s.after("a new node's Ready", ready[i], "an old one's end", gone[i])
		s.within("from an old node's end to its successor's Ready", ready[i]-gone[i], time.Minute, 12*time.Minute)
		if i > 0 {
			s.after("a node's cordon", closed[i], "the successor of the one before is Ready", ready[i-1])
		}
	}
	// A machine for a pod: an evicted pod waits for the next machine.
	for _, p := range where(s.podsOf("train"), func(p *podLife) bool { return !p.old() }) {
		s.within(p.name+": it waits for its node", p.bound-p.created, 2*time.Minute, 15*time.Minute)
		is(s, p.name+": events FailedScheduling", len(s.about(p.name, "default-scheduler", "FailedScheduling")) > 0, true)
		is(s, p.name+" is on an old node", s.node(p.node).old(), false)
	}
	is(s, "pods of train that are ready in the end", s.readyAt("train", s.end), 3)
	s.golden(gone[0], s.end)

	s = tell(t, "minimal", "maxUnavailable=2")
	is(s, "nodes that are closed at once", len(where(s.oldNodes(), func(n *nodeLife) bool { return n.cordoned < first(s.newNodes(), joined) })), 2)
}

// A third at a time, and never more than the budget's tenth of the pods.
func TestPercentage(t *testing.T) {
	t.Parallel()
	s := tell(t, "percentage")
	is(s, "outcome", s.outcome(), "")
	cordon := first(s.oldNodes(), cordoned)
	surge := s.nodesThat(func(n *nodeLife) bool { return !n.old() && n.joined < cordon })
	is(s, "nodes that join first", len(surge), 13)
	s.after("the first cordon", cordon, "the last surge node's Ready", last(surge, online))
	is(s, "old nodes that are closed", len(times(s.oldNodes(), cordoned)), 40)
	s.within("all cordons", last(s.oldNodes(), cordoned)-cordon, 0, 10*time.Second)
	is(s, "nodes on their way out at once", s.drainsAtOnce(s.oldNodes()), 13)
	for _, b := range s.budget("web").steps {
		is(s, "pods that the budget wants", b.desired, 216)
		is(s, "fewer than 216 are healthy", b.healthy < 216, false)
	}
	is(s, "nodes in the end", len(s.nodesAt(s.end)), 40)
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 240)
	s.golden()
}

// Half way there and back again.
func TestRollback(t *testing.T) {
	t.Parallel()
	s := tell(t, "rollback")
	is(s, "the roll's outcome", strings.HasPrefix(s.outcome(), "RolledBack: "), true)
	is(s, "first mark", s.marks[0].Name, "rollback")
	turn := s.marks[0].At
	replaced := where(s.oldNodes(), func(n *nodeLife) bool { return n.gone != never && n.gone < turn+5*time.Minute })
	is(s, "old nodes that were replaced", len(replaced), 2)
	image := s.oldNodes()[0].image
	for _, n := range s.oldNodes() {
		if n.gone != never && n.gone < turn+5*time.Minute {
			continue
		}
		uncordoned := n.when(turn, func(s nodeStep) bool { return !s.cordoned })
		s.within(n.name+": from the turn to its uncordon", uncordoned-turn, 0, 5*time.Second)
	}
	for _, n := range s.newNodes() {
		if n.image != image {
			s.happens(n.name+", which had become new: its end", n.gone)
		}
	}
	for _, n := range s.nodesAt(s.end) {
		is(s, n.name+" in the end: its image", n.image, image)
	}
	is(s, "nodes in the end", len(s.nodesAt(s.end)), 4)
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 8)
	s.golden(turn, s.end)
}

// Two versions side by side, for good.
func TestSkewStall(t *testing.T) {
	t.Parallel()
	s := tell(t, "skew-stall")
	is(s, "outcome", s.outcome(), "Cancelled: the update of workers stopped after 2 nodes")
	is(s, "old nodes that are gone", len(times(s.oldNodes(), nodeGone)), 2)
	stopped := s.marks[0].At
	for _, n := range s.nodesAt(s.end) {
		end := n.at(s.end)
		is(s, n.name+" in the end: Ready", end.ready, "True")
		is(s, n.name+" in the end: cordoned", end.cordoned, n.old())
		is(s, n.name+": its minor version", n.version[:5], map[bool]string{true: "v1.33", false: "v1.34"}[n.old()])
	}
	late := where(s.podsOf("web"), func(p *podLife) bool { return p.leaving != never && p.leaving > stopped })
	is(s, "pods that are evicted behind the stop", len(late), 0)
	s.within("from the stop to the end of the tape", s.end-stopped, 9*time.Minute, 11*time.Minute)
	s.golden()
}

// Two want the group's size: the update, and the autoscaler.
func TestAutoscalerRace(t *testing.T) {
	t.Parallel()
	s := tell(t, "autoscaler-race")
	is(s, "outcome", s.outcome(), "")
	gone := first(s.oldNodes(), nodeGone)
	added := where(s.podsOf("burst"), func(p *podLife) bool { return p.created > gone })
	s.within("from the first old node's end to the pods that are added", first(added, created)-gone, 0, 10*time.Second)
	asked := s.eventsOf("cluster-autoscaler", "TriggeredScaleUp")
	is(s, "events TriggeredScaleUp", len(asked) > 0, true)
	for _, e := range asked {
		p := where(added, func(p *podLife) bool { return p.name == e.object })
		is(s, "pods of burst that trigger "+e.object, len(p), 1)
		is(s, e.object+": events FailedScheduling", len(s.about(e.object, "default-scheduler", "FailedScheduling")) > 0, true)
		is(s, e.object+" waits for a node that joins", s.node(p[0].node).joined > p[0].created, true)
	}
	image := s.newNodes()[0].image
	for _, n := range s.newNodes() {
		is(s, n.name+": its image", n.image, image)
	}
	is(s, "old nodes that are gone", len(times(s.oldNodes(), nodeGone)), 3)
	if n := len(s.nodesAt(s.end)); n <= 9 {
		t.Errorf("autoscaler-race: nodes in the end: found %d, want more than the nine that the update's surge had", n)
	}
	is(s, "pods of burst that are ready in the end", s.readyAt("burst", s.end), 20)
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 6)
	s.golden()
}

// Smaller machines, and memory that grows on them.
func TestUndersized(t *testing.T) {
	t.Parallel()
	s := tell(t, "undersized")
	is(s, "outcome", s.outcome(), "")
	pressed := s.nodesThat(func(n *nodeLife) bool {
		return n.when(0, func(s nodeStep) bool { return s.memory == "True" }) != never
	})
	is(s, "nodes under memory pressure", len(pressed) > 0, true)
	for _, n := range pressed {
		is(s, n.name+" is an old one", n.old(), false)
		from := n.when(0, func(s nodeStep) bool { return s.memory == "True" })
		tainted := n.when(from, func(s nodeStep) bool { return s.has("node.kubernetes.io/memory-pressure:NoSchedule") })
		s.within(n.name+": from the condition to the taint", tainted-from, 0, time.Second)
		if over := n.when(from, func(s nodeStep) bool { return s.memory == "False" }); over != never {
			s.within(n.name+": the pressure lasts for", over-from, 5*time.Minute-15*time.Second, 30*time.Minute)
		}
		is(s, n.name+": events EvictionThresholdMet", len(s.about(n.name, "kubelet", "EvictionThresholdMet")), 1)
	}
	evicted := where(s.podsOf("cache"), func(p *podLife) bool { return p.target == "TerminationByKubelet" })
	is(s, "pods that kubelets evict", len(evicted) > 0, true)
	for _, p := range evicted {
		failed := p.when(0, func(s podStep) bool { return s.phase == "Failed" && s.reason == "Evicted" })
		s.happens(p.name+": it has failed, and stays", failed)
		e := s.about(p.name, "kubelet", "Evicted")
		is(s, p.name+": events Evicted", len(e), 1)
		is(s, p.name+": what it says", strings.HasPrefix(e[0].message, "The node was low on resource: memory. Threshold quantity: 100Mi, available: "), true)
	}
	calm := tell(t, "undersized", "to=m5.large", "leak=1Mi")
	is(calm, "events Evicted", len(calm.eventsOf("kubelet", "Evicted")), 0)
	s.golden(pressed[0].when(0, func(s nodeStep) bool { return s.memory == "True" })+time.Minute, s.end)
}

// A zone can't be heard for twenty minutes, in the middle of a roll.
func TestZoneOutage(t *testing.T) {
	t.Parallel()
	s := tell(t, "zone-outage")
	is(s, "outcome", s.outcome(), "")
	cut := first(s.oldNodes(), nodeGone)
	hit := s.nodesThat(func(n *nodeLife) bool {
		return strings.HasSuffix(n.zone, "c") && n.joined < cut && n.gone != cut
	})
	is(s, "nodes that are cut off", len(hit), 3)
	for _, n := range hit {
		unknown := n.when(cut, func(s nodeStep) bool { return s.ready == "Unknown" })
		s.within(n.name+": from the cut to Unknown", unknown-cut, 40*time.Second, 70*time.Second)
		back := n.when(unknown, func(s nodeStep) bool { return s.ready == "True" })
		s.within(n.name+": from the cut to its return", back-cut, 20*time.Minute, 20*time.Minute+15*time.Second)
	}
	// One NoExecute taint every ten seconds in a zone (--node-eviction-rate).
	tainted := times(hit, func(n *nodeLife) time.Duration {
		return n.when(cut, func(s nodeStep) bool { return s.has("node.kubernetes.io/unreachable:NoExecute") })
	})
	is(s, "nodes that are tainted NoExecute", len(tainted), 3)
	for i := 1; i < len(tainted); i++ {
		s.within("between two nodes' NoExecute taints", tainted[i]-tainted[i-1], 9*time.Second, 16*time.Second)
	}
	driven := where(s.podsOf("web"), func(p *podLife) bool { return p.target == "DeletionByTaintManager" })
	is(s, "pods that the taint manager deletes", len(driven) > 0, true)
	for _, p := range driven {
		s.within(p.name+": it terminates until the zone is back", p.gone-cut, 20*time.Minute, 20*time.Minute+45*time.Second)
	}
	quiet := times(s.nodes, nodeGone)
	for _, at := range quiet[1:] {
		s.after("the next old node's end", at, "the zone is back", cut+20*time.Minute)
	}
	is(s, "nodes in the end", len(s.nodesAt(s.end)), 6)
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 12)
	s.golden(tainted[2], s.end)
}
