package scenarios_test

import (
	"strings"
	"testing"
	"time"
)

const nodesDontJoin = "NodeCreationFailure: Couldn't proceed with upgrade process as new nodes are not joining node group workers"

// untouched fails unless the old nodes and their pods are as they were.
func (s *story) untouched() {
	s.t.Helper()
	for _, n := range s.oldNodes() {
		is(s, n.name+": its cordon", n.cordoned, never)
		is(s, n.name+": its end", n.gone, never)
	}
	for _, p := range s.podsOf("web") {
		is(s, p.name+": its deletion", p.leaving, never)
	}
}

// The network plugin crashes: the nodes are there and stay NotReady for it.
func TestNeverReadyForItsNetwork(t *testing.T) {
	t.Parallel()
	s := tell(t, "never-ready")
	is(s, "outcome", s.outcome(), nodesDontJoin)
	is(s, "zones of the nodes that join", zones(s.newNodes()), "aabbcc")
	for _, n := range s.newNodes() {
		is(s, n.name+": its Ready", n.online, never)
		end := n.at(s.end)
		is(s, n.name+" in the end: tainted not-ready:NoSchedule", end.has("node.kubernetes.io/not-ready:NoSchedule"), true)
		is(s, n.name+" in the end: why it isn't Ready", end.message,
			"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized")
		is(s, n.name+": a kubelet's NodeNotReady, which was never Ready", len(s.about(n.name, "kubelet", "NodeNotReady")), 0)
	}
	crashing := where(s.podsOf("aws-node"), func(p *podLife) bool { return !p.old() })
	is(s, "aws-node pods on new nodes", len(crashing), 6)
	for _, p := range crashing {
		if p.last().restarts < 5 {
			t.Errorf("never-ready: restarts of %s: found %d, want 5 and more", p, p.last().restarts)
		}
		is(s, "events BackOff of "+p.name, len(s.about(p.name, "kubelet", "BackOff")) > 0, true)
	}
	s.untouched()
	s.within("from the last node that joins to the failure", s.marks[0].At-last(s.newNodes(), joined), 14*time.Minute, 16*time.Minute)
	s.golden()
}

// The machines run, and nobody in the cluster learns of them.
func TestNeverReadyForItsUserData(t *testing.T) {
	t.Parallel()
	s := tell(t, "never-ready", "cause=userdata")
	is(s, "outcome", s.outcome(), nodesDontJoin)
	is(s, "nodes that join", len(s.newNodes()), 0)
	is(s, "events about nodes", len(where(s.events, func(e *eventLife) bool { return e.kind == "Node" })), 0)
	s.untouched()
}

// The kubelets register and fall silent: a minute is given to a node that has
// just started, then it is Unknown.
func TestNeverReadyForItsKubelet(t *testing.T) {
	t.Parallel()
	s := tell(t, "never-ready", "cause=kubelet")
	is(s, "outcome", s.outcome(), nodesDontJoin)
	is(s, "zones of the nodes that join", zones(s.newNodes()), "aabbcc")
	for _, n := range s.newNodes() {
		is(s, n.name+": its Ready", n.online, never)
		unknown := n.when(n.joined, func(s nodeStep) bool { return s.ready == "Unknown" })
		s.within(n.name+": from its creation to Unknown", unknown-n.joined, 45*time.Second, 70*time.Second)
		is(s, n.name+" in the end: tainted unreachable:NoExecute", n.at(s.end).has("node.kubernetes.io/unreachable:NoExecute"), true)
	}
	s.untouched()
	quick := tell(t, "never-ready", "cause=kubelet", "timeout=5m")
	quick.within("from the last node that joins to the failure", quick.marks[0].At-last(quick.newNodes(), joined), 4*time.Minute, 6*time.Minute)
}

// No launch succeeds, and the Kubernetes API shows nothing until one does.
func TestInsufficientCapacity(t *testing.T) {
	t.Parallel()
	s := tell(t, "insufficient-capacity")
	is(s, "outcome", s.outcome(), "")
	s.after("the first node joins", first(s.newNodes(), joined), "capacity is back", 8*time.Minute+10*time.Second)
	s.within("the first node joins", first(s.newNodes(), joined), 8*time.Minute+30*time.Second, 12*time.Minute)
	is(s, "what is told before capacity is back", len(where(s.events, func(e *eventLife) bool { return e.first() < 8*time.Minute })), 0)
	cordon := first(s.oldNodes(), cordoned)
	surge := s.nodesThat(func(n *nodeLife) bool { return !n.old() && n.joined < cordon })
	is(s, "zones of the surge", zones(surge), "aabbcc")
	is(s, "nodes in the end", len(s.nodesAt(s.end)), 3)
	s.golden(first(s.oldNodes(), cordoned), s.end)

	s = tell(t, "insufficient-capacity", "recoverAfter=0s")
	is(s, "outcome", s.outcome(), nodesDontJoin)
	is(s, "nodes that join", len(s.newNodes()), 0)
	is(s, "events", len(s.events), 0)
	s.untouched()
	s.within("the failure", s.marks[0].At, 15*time.Minute, 18*time.Minute)
}

// What was evicted doesn't come up again, so nothing more may be evicted.
func TestPullBackoff(t *testing.T) {
	t.Parallel()
	s := tell(t, "pull-backoff")
	is(s, "outcome", s.outcome(), "PodEvictionFailure: Reached max retries while trying to evict pods from nodes in node group workers")
	is(s, "old nodes that are gone", len(times(s.oldNodes(), nodeGone)), 1)
	evicted := where(s.podsOf("web"), func(p *podLife) bool { return p.leaving != never })
	is(s, "pods that were evicted", len(evicted), 2)
	waiting := where(s.podsOf("web"), func(p *podLife) bool { return !p.old() })
	is(s, "pods that replace them", len(waiting), 2)
	for _, p := range waiting {
		is(s, p.name+" is on an old node", s.node(p.node).old(), false)
		is(s, p.name+": its Ready", p.ready, never)
		is(s, p.name+" in the end waits for", p.last().waiting, "ImagePullBackOff")
		// A pull is tried again when its back-off is over and the kubelet looks at
		// the pod: 10 s, then twice as long each time, at most five minutes.
		var tries []time.Duration
		was := ""
		for _, step := range p.steps {
			if step.waiting == "ErrImagePull" && was != step.waiting {
				tries = append(tries, step.at)
			}
			was = step.waiting
		}
		if len(tries) < 8 {
			t.Fatalf("pull-backoff: pulls of %s: found %d, want 8 and more", p, len(tries))
		}
		for i, backoff := range []int{10, 20, 40, 80, 160, 300, 300} {
			wait := time.Duration(backoff) * time.Second
			s.within(p.name+": between two pulls", tries[i+1]-tries[i], wait, wait+20*time.Second)
		}
		for _, message := range []string{"Error: ErrImagePull", "Error: ImagePullBackOff"} {
			told := where(s.about(p.name, "kubelet", "Failed"), func(e *eventLife) bool { return e.message == message })
			is(s, p.name+": events "+message, len(told), 1)
		}
		why := where(s.about(p.name, "kubelet", "Failed"), func(e *eventLife) bool { return strings.HasSuffix(e.message, "may require authorization") })
		is(s, p.name+": events that say why", len(why), 1)
	}
	b := s.budget("web")
	is(s, "disruptions allowed in the end", b.steps[len(b.steps)-1].allowed, 0)
	is(s, "healthy pods in the end", b.steps[len(b.steps)-1].healthy, 4)
	s.golden()

	s = tell(t, "pull-backoff", "mendAfter=12m")
	is(s, "outcome", s.outcome(), "")
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 6)
}

// An hour of grace in a drain of fifteen minutes.
func TestLongGrace(t *testing.T) {
	t.Parallel()
	s := tell(t, "long-grace")
	is(s, "outcome", s.outcome(), "PodEvictionFailure: Reached max retries while trying to evict pods from nodes in node group workers")
	held := where(s.podsOf("batch"), func(p *podLife) bool { return p.leaving != never })
	is(s, "pods of batch that terminate", len(held), 1)
	is(s, "why it goes", held[0].target, "EvictionByEvictionAPI")
	is(s, "its grace", held[0].grace, int64(3600))
	is(s, "its end", held[0].gone, never)
	is(s, "pods of batch in all, since a StatefulSet waits", len(s.podsOf("batch")), 3)
	s.within("from its eviction to the failure", s.marks[0].At-held[0].leaving, 15*time.Minute, 15*time.Minute+10*time.Second)
	is(s, "pods of web that moved", len(where(s.podsOf("web"), func(p *podLife) bool { return p.leaving != never })), 2)
	s.golden()
}

// With force the drain of an old node is given as long again, and then the machine goes. A surplus node goes when the
// time of its drain is over.
func TestLongGraceForced(t *testing.T) {
	t.Parallel()
	s := tell(t, "long-grace", "force=true")
	is(s, "outcome", s.outcome(), "")
	for _, n := range s.oldNodes() {
		begin, _ := s.drain(n)
		s.within(n.name+": from its first eviction to its end", n.gone-begin, 31*time.Minute, 36*time.Minute)
	}
	for _, p := range s.podsOf("batch") {
		switch {
		case p.gone == never:
		case s.node(p.node).old():
			s.within(p.name+": it terminates for", p.gone-p.leaving, 30*time.Minute, 40*time.Minute)
		default:
			s.within(p.name+" on a surplus node: it terminates for", p.gone-p.leaving, 0, 25*time.Minute)
		}
	}
	is(s, "pods of batch that are ready in the end", s.readyAt("batch", s.end), 3)

	short := tell(t, "long-grace", "grace=10m")
	is(short, "outcome", short.outcome(), "")
}

// The containers are long dead when the objects go, and the drain waits for the
// objects.
func TestStuckFinalizer(t *testing.T) {
	t.Parallel()
	s := tell(t, "stuck-finalizer")
	is(s, "outcome", s.outcome(), "")
	for _, n := range s.oldNodes() {
		for _, p := range where(s.podsOn(n), func(p *podLife) bool { return p.workload == "ledger" }) {
			dead := p.when(p.leaving, func(s podStep) bool { return s.phase == "Succeeded" })
			s.within(p.name+": from its eviction to its containers' end", dead-p.leaving, 0, 31*time.Second)
			s.within(p.name+": from its eviction to its end", p.gone-p.leaving, 6*time.Minute, 6*time.Minute+2*time.Second)
			next := where(s.podsOf("ledger"), func(other *podLife) bool { return other.created > p.leaving })[0]
			s.within(p.name+": from its eviction to the next pod's creation", next.created-p.leaving, 0, 2*time.Second)
			s.after(n.name+" goes down", goesDown(n), p.name+" is gone", p.gone+time.Minute)
		}
	}
	s.golden()

	s = tell(t, "stuck-finalizer", "held=0s")
	is(s, "outcome", s.outcome(), "PodEvictionFailure: Reached max retries while trying to evict pods from nodes in node group workers")
	is(s, "old nodes that are gone", len(times(s.oldNodes(), nodeGone)), 0)
	is(s, "pods of ledger that terminate, dead", len(where(s.podsOf("ledger"), func(p *podLife) bool { return p.last().leaving && p.last().phase == "Succeeded" && p.gone == never })), 1)

	s = tell(t, "stuck-finalizer", "held=0s", "force=true")
	is(s, "outcome", s.outcome(), "")
	is(s, "old nodes that are gone", len(times(s.oldNodes(), nodeGone)), 3)
}

// Detachments fail while the old nodes are cordoned: the database's first pod
// waits for its volume, and the budget holds the others back for it.
func TestVolumeDetach(t *testing.T) {
	t.Parallel()
	s := tell(t, "volume-detach")
	is(s, "outcome", s.outcome(), "")
	cordon := last(s.oldNodes(), cordoned)
	moved := where(s.podsOf("db"), func(p *podLife) bool { return !p.old() && p.created < last(s.oldNodes(), nodeGone) })
	is(s, "pods of db that follow", len(moved), 3)
	first := moved[0]
	is(s, first.name+": events FailedAttachVolume", len(s.about(first.name, "attachdetach-controller", "FailedAttachVolume")) > 0, true)
	is(s, first.name+": events FailedMount", len(s.about(first.name, "kubelet", "FailedMount")) > 0, true)
	attached := where(s.about(first.name, "attachdetach-controller", "SuccessfulAttachVolume"), func(e *eventLife) bool { return e.first() > first.created })
	is(s, first.name+": events SuccessfulAttachVolume", len(attached) > 0, true)
	s.within(first.name+": its volume comes, behind the cordons", attached[0].first()-cordon, 6*time.Minute, 9*time.Minute)
	s.after(first.name+" is Ready", first.ready, "its volume is attached", attached[0].first())
	for _, p := range moved[1:] {
		s.after(p.name+" is created", p.created, "the first is Ready", first.ready)
		s.within(p.name+": from its creation to Ready", p.ready-p.created, 15*time.Second, 3*time.Minute)
	}
	for _, p := range moved {
		old := where(s.podsOf("db"), func(o *podLife) bool { return o.old() && o.name == p.name })[0]
		is(s, p.name+": its zone, which is its volume's", s.node(p.node).zone, s.node(old.node).zone)
	}
	for _, b := range s.budget("db").steps {
		is(s, "fewer than two pods of db are healthy", b.healthy < 2, false)
	}
	s.golden(first.created+3*time.Minute, s.end)
}

// New nodes are Ready and have no address to give.
func TestIPExhaustion(t *testing.T) {
	t.Parallel()
	s := tell(t, "ip-exhaustion")
	is(s, "outcome", s.outcome(), "")
	refused := s.eventsOf("kubelet", "FailedCreatePodSandBox")
	is(s, "events FailedCreatePodSandBox", len(refused) > 0, true)
	for _, e := range refused {
		is(s, "why", strings.HasSuffix(e.message, `plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container`), true)
		p := where(s.podsOf("web"), func(p *podLife) bool { return p.name == e.object })[0]
		is(s, p.name+" was refused on an old node", s.node(p.node).old(), false)
		s.within(p.name+": from its binding to Ready", p.ready-p.bound, 10*time.Second, 5*time.Minute)
	}
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 9)
	plenty := tell(t, "ip-exhaustion", "free=1000")
	is(plenty, "events FailedCreatePodSandBox", len(plenty.eventsOf("kubelet", "FailedCreatePodSandBox")), 0)
	s.golden()
}
