package scenarios_test

import (
	"testing"
	"time"
)

// told is when the instances of spot-loss get their notice.
const told = 45 * time.Second

// lostNodes are the old nodes that are gone in the end.
func (s *story) lostNodes() []*nodeLife {
	return s.nodesThat(func(n *nodeLife) bool { return n.old() && n.gone != never })
}

// unknownAt is when a node became Unknown.
func unknownAt(n *nodeLife) time.Duration {
	return n.when(0, func(s nodeStep) bool { return s.ready == "Unknown" })
}

// The termination handler cordons and evicts within seconds; the machines are
// taken when their two minutes are over, and others come.
func TestSpotLoss(t *testing.T) {
	t.Parallel()
	s := tell(t, "spot-loss")
	lost := s.lostNodes()
	is(s, "nodes that are lost", len(lost), 2)
	for _, n := range lost {
		s.within(n.name+": its cordon", n.cordoned, told, told+10*time.Second)
		begin, end := s.drain(n)
		s.after(n.name+": its first eviction", begin, "its cordon", n.cordoned)
		s.within(n.name+": its last pod's end", end, told, told+120*time.Second)
		for _, p := range s.podsOn(n) {
			is(s, p.name+": why it goes", p.target, "EvictionByEvictionAPI")
		}
		// Taken at 165s, Unknown when its last heartbeat is 50 s old.
		s.within(n.name+": Unknown", unknownAt(n), told+(120+40)*time.Second, told+(120+60)*time.Second)
		s.within(n.name+": from Unknown to its deletion", n.gone-unknownAt(n), 0, 6*time.Second)
	}
	for _, b := range s.budget("web").steps {
		is(s, "pods that the budget wants", b.desired, 9)
		is(s, "fewer than nine are healthy", b.healthy < 9, false)
	}
	is(s, "events of the handler, which has them turned off", len(where(s.events, func(e *eventLife) bool { return e.reporter == "aws-node-termination-handler" })), 0)
	is(s, "nodes that replace them", len(s.newNodes()), 2)
	is(s, "zones of the lost ones and of those that replace them", zones(s.newNodes()), zones(lost))
	s.after("the first new node joins", first(s.newNodes(), joined), "the instances are taken", told+120*time.Second)
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 12)
	s.golden(told+20*time.Second, s.end)
}

// Nobody reacts: the machines are taken with what runs on them.
func TestSpotLossUnnoticed(t *testing.T) {
	t.Parallel()
	s := tell(t, "spot-loss", "handler=none")
	lost := s.lostNodes()
	is(s, "nodes that are lost", len(lost), 2)
	for _, n := range lost {
		is(s, n.name+": its cordon", n.cordoned, never)
		is(s, n.name+" as it is called Unknown", n.at(n.gone).has("node.kubernetes.io/unreachable:NoExecute"), true)
		for _, p := range s.podsOn(n) {
			is(s, p.name+": why it goes", p.target, "DeletionByPodGC")
			s.within(p.name+": from its node's deletion to its own", p.gone-n.gone, 40*time.Second, 80*time.Second)
			notReady := p.when(0, func(s podStep) bool { return !s.ready })
			s.within(p.name+": from Unknown to not ready", notReady-unknownAt(n), 0, 6*time.Second)
		}
	}
	is(s, "healthy pods at the worst", s.leastReady("web"), 8)
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 12)
}

// A managed node group drains at the recommendation, once a replacement is Ready.
func TestSpotLossRebalanced(t *testing.T) {
	t.Parallel()
	s := tell(t, "spot-loss", "handler=mng", "rebalanceLead=5m")
	lost := s.lostNodes()
	is(s, "nodes that are lost", len(lost), 2)
	s.after("the first cordon", first(lost, cordoned), "the first replacement's Ready", first(s.newNodes(), online))
	for _, n := range lost {
		s.within(n.name+": its end, long before the notice would have come", n.gone, told, told+4*time.Minute)
		is(s, n.name+" at its cordon: exclude-from-external-load-balancers", n.at(n.cordoned).excluded, "true")
	}
	is(s, "fewer than nine pods are ready", s.leastReady("web") < 9, false)

	s = tell(t, "spot-loss", "handler=mng")
	for _, n := range s.lostNodes() {
		s.within(n.name+": its cordon", n.cordoned, told, told+10*time.Second)
	}
}

// A machine is gone without a word, and the cloud knows: the Node is deleted as
// soon as anybody looks, and its pods after it.
func TestSpotVanish(t *testing.T) {
	t.Parallel()
	const dies = 20 * time.Second
	for _, kubelet := range []string{"real", "kwok"} {
		set := []string{"kubelet=" + kubelet}
		if kubelet == "real" {
			set = nil
		}
		s := tell(t, "spot-vanish", set...)
		lost := s.lostNodes()
		is(s, "nodes that are lost", len(lost), 1)
		n := lost[0]
		// The last heartbeat is up to ten seconds old, and the controller looks every five.
		s.within("from its death to Unknown", unknownAt(n)-dies, 40*time.Second, 56*time.Second)
		is(s, "events NodeNotReady about it", len(s.about(n.name, "node-controller", "NodeNotReady")), 1)
		s.within("from Unknown to its deletion", n.gone-unknownAt(n), 0, 6*time.Second)
		is(s, "its cordon", n.cordoned, never)
		pods := s.podsOn(n)
		is(s, "its pods", len(pods), 2)
		for _, p := range pods {
			is(s, p.name+": events NodeNotReady", len(s.about(p.name, "node-controller", "NodeNotReady")), 1)
			is(s, p.name+": why it goes", p.target, "DeletionByPodGC")
			is(s, p.name+": its phase when it goes", p.last().phase, "Failed")
			s.within(p.name+": from its node's deletion to its own", p.gone-n.gone, 40*time.Second, 80*time.Second)
		}
		late := where(s.podsOf("web"), func(p *podLife) bool { return !p.old() })
		is(s, "pods that replace them", len(late), 2)
		s.after("the first of them is created", first(late, created), "the others are gone", last(pods, podGone))
		if kubelet == "real" {
			is(s, "events DeletingNode", len(s.about(n.name, "cloud-node-lifecycle-controller", "DeletingNode")), 1)
			s.golden(n.gone, s.end)
		}
	}
}

// The cloud calls the machine running: five minutes of patience, and pods that
// terminate for ever.
func TestSpotVanishUnseen(t *testing.T) {
	t.Parallel()
	s := tell(t, "spot-vanish", "terminated=false")
	is(s, "nodes that are lost", len(s.lostNodes()), 0)
	unknown := s.nodesThat(func(n *nodeLife) bool { return unknownAt(n) != never })
	is(s, "nodes that are Unknown", len(unknown), 1)
	n := unknown[0]
	is(s, "it in the end: Ready", n.at(s.end).ready, "Unknown")
	for _, p := range s.podsOn(n) {
		is(s, p.name+": why it goes", p.target, "DeletionByTaintManager")
		s.within(p.name+": from Unknown to its deletion", p.leaving-unknownAt(n), 300*time.Second, 306*time.Second)
		is(s, p.name+": its end", p.gone, never)
		marked := s.about(p.name, "taint-eviction-controller", "TaintManagerEviction")
		is(s, p.name+": events TaintManagerEviction", len(marked), 1)
		is(s, p.name+": what it says", marked[0].message, "Marking for deletion Pod shop/"+p.name)
	}
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 6)
	is(s, "nodes that replace it", len(s.newNodes()), 0)
}

// Four silences of ninety seconds, and not one pod moves.
func TestNodeFlap(t *testing.T) {
	t.Parallel()
	s := tell(t, "node-flap")
	notready := s.entries("notready")
	is(s, "times that it isn't ready", len(notready), 4)
	is(s, "times that it is back", len(s.entries("online")), 4)
	n := s.node(notready[0].Node)
	for k := range 4 {
		dies := 30*time.Second + time.Duration(k)*180*time.Second
		s.within("from its silence to Unknown", notready[k].At-dies, 40*time.Second, 66*time.Second)
		back := n.when(notready[k].At, func(s nodeStep) bool { return s.ready == "True" })
		s.within("from its return to Ready", back-dies-90*time.Second, 0, 11*time.Second)
		s.after("its taints are gone", n.when(back, func(s nodeStep) bool { return s.taints == "" }), "it is back", back)
	}
	for _, p := range s.podsOn(n) {
		is(s, p.name+": its deletion", p.leaving, never)
		is(s, p.name+": its restarts", p.last().restarts, 0)
		e := s.about(p.name, "taint-eviction-controller", "TaintManagerEviction")
		is(s, p.name+": events TaintManagerEviction", len(e), 1)
		is(s, p.name+": what it says", e[0].message, "Cancelling deletion of Pod shop/"+p.name)
		is(s, p.name+": how often", e[0].count, 4)
	}
	is(s, "pods in all", len(s.podsOf("web")), 6)
	s.golden(notready[0].At, s.end)

	// Ten minutes are more than the pods tolerate.
	s = tell(t, "node-flap", "down=10m", "times=1")
	is(s, "pods that are driven off", len(where(s.podsOf("web"), func(p *podLife) bool { return p.target == "DeletionByTaintManager" })), 2)
	for _, p := range where(s.podsOf("web"), func(p *podLife) bool { return p.target != "" }) {
		s.happens(p.name+": its end, as the kubelet is back", p.gone)
	}
}

// The same node with another boot.
func TestNodeReboot(t *testing.T) {
	t.Parallel()
	s := tell(t, "node-reboot")
	is(s, "nodes in all", len(s.nodes), 3)
	rebooted := s.eventsOf("kubelet", "Rebooted")
	is(s, "events Rebooted", len(rebooted), 1)
	n := s.node(rebooted[0].object)
	is(s, "it has the boot of before", n.at(s.end).boot == n.at(0).boot, false)
	is(s, "what the event says", rebooted[0].message, "Node "+n.name+" has been rebooted, boot id: "+n.at(s.end).boot)
	down := n.when(0, func(s nodeStep) bool { return s.ready != "True" })
	s.within("it goes down", down, 30*time.Second, 90*time.Second)
	s.within("it is Ready again", n.when(down, func(s nodeStep) bool { return s.ready == "True" }), time.Minute, 4*time.Minute)
	for _, p := range s.podsOn(n) {
		is(s, p.name+": its deletion", p.leaving, never)
		is(s, p.name+": its restarts", p.last().restarts, 1)
		is(s, p.name+": events SandboxChanged", len(s.about(p.name, "kubelet", "SandboxChanged")), 1)
		is(s, p.name+" in the end: ready", p.last().ready, true)
	}
	s.golden(down, s.end)
}

// From 1.34 on the kubelet sees the shutdown coming; before, the machine goes.
func TestGracefulShutdown(t *testing.T) {
	t.Parallel()
	const asked = 30 * time.Second
	s := tell(t, "graceful-shutdown")
	is(s, "nodes that are lost", len(s.lostNodes()), 1)
	n := s.lostNodes()[0]
	down := goesDown(n)
	s.within("it goes down", down, asked, asked+5*time.Second)
	is(s, "why it isn't Ready", n.at(down).message, "node is shutting down")
	is(s, "events Shutdown", len(s.about(n.name, "kubelet", "Shutdown")), 1)
	is(s, "events NodeNotReady of its kubelet", len(s.about(n.name, "kubelet", "NodeNotReady")), 1)
	for _, p := range s.podsOn(n) {
		is(s, p.name+": its DisruptionTarget", p.target, "TerminationByKubelet")
		failed := p.when(0, func(s podStep) bool { return s.phase == "Failed" && s.reason == "Terminated" })
		s.within(p.name+": it has failed", failed, asked, asked+2*time.Minute)
		s.after(p.name+": its end", p.gone, "it has failed", failed+30*time.Second)
		next := where(s.podsOf("web"), func(other *podLife) bool { return other.created > failed })
		s.within(p.name+": the next pod's creation, after its failure", next[0].created-failed, 0, 2*time.Second)
	}
	s.golden(down, s.end)

	s = tell(t, "graceful-shutdown", "version=1.33")
	n = s.lostNodes()[0]
	is(s, "events Shutdown", len(s.eventsOf("kubelet", "Shutdown")), 0)
	s.within("it is Unknown", unknownAt(n), asked+40*time.Second, asked+70*time.Second)
	for _, p := range s.podsOn(n) {
		is(s, p.name+": its DisruptionTarget", p.target, "DeletionByPodGC")
	}
}

// Karpenter taints, drains while its finalizer holds the Node, and has a replacement launched
// for the pods that fit nowhere.
func TestKarpenterSpot(t *testing.T) {
	t.Parallel()
	const told = 30 * time.Second
	s := tell(t, "karpenter-spot")
	is(s, "nodes that are lost", len(s.lostNodes()), 1)
	n := s.lostNodes()[0]
	is(s, "its cordon", n.cordoned, never)
	tainted := n.when(0, func(s nodeStep) bool { return s.has("karpenter.sh/disrupted:NoSchedule") })
	s.within("its taint", tainted, told, told+10*time.Second)
	s.after("its deletion is asked for", tainted+time.Second, "of", n.deleting)
	is(s, "events NodeNotSchedulable", len(s.eventsOf("kubelet", "NodeNotSchedulable")), 0)
	for _, reason := range []string{"SpotInterrupted", "TerminatingOnInterruption", "InstanceTerminating"} {
		e := s.about(n.name, "karpenter", reason)
		is(s, "events "+reason, len(e), 1)
		is(s, "type of "+reason, e[0].typ, "Warning")
	}
	for _, p := range where(s.podsOn(n), func(p *podLife) bool { return p.leaving != never }) {
		is(s, p.name+": why it goes", p.target, "EvictionByEvictionAPI")
		is(s, p.name+": events Evicted", len(s.about(p.name, "karpenter", "Evicted")), 1)
	}
	_, drained := s.drain(n)
	terminating := s.about(n.name, "karpenter", "InstanceTerminating")[0].first()
	s.after("its instance's end", terminating, "its last pod's", drained)
	s.within("its end", n.gone, told+20*time.Second, told+3*time.Minute)
	fresh := s.newNodes()
	is(s, "nodes that replace it", len(fresh), 1)
	waiting := where(s.podsOf("web"), func(p *podLife) bool { return !p.old() })
	is(s, "pods that wait for it", len(waiting), 3)
	for _, p := range waiting {
		is(s, p.name+": events Nominated", len(s.about(p.name, "karpenter", "Nominated")), 1)
		is(s, p.name+": its node", p.node, fresh[0].name)
	}
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 12)
	s.golden(tainted, s.end)
}
