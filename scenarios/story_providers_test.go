package scenarios_test

import (
	"strings"
	"testing"
	"time"
)

// Tainted, never cordoned; the replacement is initialized first; a tenth of four
// is one at a time.
func TestKarpenterDrift(t *testing.T) {
	t.Parallel()
	s := tell(t, "karpenter-drift")
	is(s, "outcome", s.outcome(), "")
	is(s, "nodes that join", len(s.newNodes()), 4)
	is(s, "old nodes that are gone", len(times(s.oldNodes(), nodeGone)), 4)
	_, most := s.nodesAtOnce()
	is(s, "nodes at the most", most, 6) // two machines end meanwhile
	for _, n := range s.oldNodes() {
		is(s, n.name+": its cordon", n.cordoned, never)
		tainted := n.when(0, func(s nodeStep) bool { return s.has("karpenter.sh/disrupted:NoSchedule") })
		s.happens(n.name+": its taint", tainted)
		terminating := s.about(n.name, "karpenter", "DisruptionTerminating")
		is(s, n.name+": events DisruptionTerminating", len(terminating), 1)
		is(s, n.name+": what it says", terminating[0].message, "Disrupting Node: Drifted/Delete")
		successor := where(s.newNodes(), func(o *nodeLife) bool { return o.joined > tainted })[0]
		s.after(n.name+" is deleted", n.deleting, "its successor is Ready", successor.online)
		s.after(n.name+": its instance's end", s.about(n.name, "karpenter", "InstanceTerminating")[0].first(), "its deletion", n.deleting)
		s.after(n.name+" is gone", n.gone, "its deletion", n.deleting+5*time.Second)
	}
	for _, p := range where(s.podsOf("web"), func(p *podLife) bool { return p.leaving != never }) {
		is(s, p.name+": why it goes", p.target, "EvictionByEvictionAPI")
	}
	is(s, "fewer than six pods are healthy", s.leastReady("web") < 6, false)
	s.golden(first(s.oldNodes(), func(n *nodeLife) time.Duration { return n.deleting })+time.Second, s.end)
}

// A pod that must not be disrupted keeps its node, and no failure says so: the
// roll waits until somebody ends the tape.
func TestKarpenterDriftBlocked(t *testing.T) {
	t.Parallel()
	s := tell(t, "karpenter-drift", "blocked=true")
	kept := s.nodesThat(func(n *nodeLife) bool { return n.old() && n.gone == never })
	is(s, "old nodes that stay", len(kept), 1)
	is(s, "it has the pod", s.podsOf("pinned")[0].node, kept[0].name)
	told := where(s.about(kept[0].name, "karpenter", "DisruptionBlocked"), func(e *eventLife) bool {
		return strings.Contains(e.message, `"karpenter.sh/do-not-disrupt" annotation (Pod=shop/`)
	})
	is(s, "events DisruptionBlocked that name it", len(told) > 0, true)
	is(s, "the last mark", s.marks[len(s.marks)-1].Name, "time limit")
	is(s, "the end of the tape", s.end, 4*time.Hour)
}

// One more node than the pool has, and one at a time.
func TestGKESurge(t *testing.T) {
	t.Parallel()
	s := tell(t, "gke-surge")
	is(s, "outcome", s.outcome(), "")
	fewest, most := s.nodesAtOnce()
	is(s, "nodes at the least", fewest, 3)
	is(s, "nodes at the most", most, 4)
	closed, gone, ready := times(s.oldNodes(), cordoned), times(s.oldNodes(), nodeGone), times(s.newNodes(), online)
	is(s, "nodes that join", len(ready), 3)
	for i := range closed {
		s.after("a node's cordon", closed[i], "its successor is Ready", ready[i])
		s.after("its end", gone[i], "its cordon", closed[i])
		if i > 0 {
			s.after("a node's cordon", closed[i], "the end of the one before", gone[i-1])
		}
	}
	is(s, "fewer than five pods are ready", s.leastReady("web") < 5, false)
	s.golden(closed[1], s.end)

	s = tell(t, "gke-surge", "maxSurge=3")
	_, most = s.nodesAtOnce()
	is(s, "nodes at the most", most, 6)
}

// A green pool beside the blue one, which is emptied, kept for the soak, and
// deleted.
func TestGKEBlueGreen(t *testing.T) {
	t.Parallel()
	s := tell(t, "gke-blue-green")
	is(s, "outcome", s.outcome(), "")
	old, fresh := s.oldNodes(), s.newNodes()
	is(s, "green nodes", len(fresh), 3)
	s.after("the first cordon", first(old, cordoned), "the last green node's Ready", last(fresh, online))
	s.within("all cordons", last(old, cordoned)-first(old, cordoned), 0, 5*time.Second)
	drained := time.Duration(0)
	for _, n := range old {
		_, end := s.drain(n)
		drained = max(drained, end)
	}
	s.within("from the last blue node's drain to the first one's end", first(old, nodeGone)-drained, 10*time.Minute, 13*time.Minute)
	is(s, "nodes that serve in the end", len(s.nodesAt(s.end)), 3)
	s.golden(drained, s.end)
}

// The same name with another uid; only the surge node has a name of its own.
func TestAKSReimage(t *testing.T) {
	t.Parallel()
	s := tell(t, "aks-reimage")
	is(s, "outcome", s.outcome(), "")
	names := map[string]int{}
	for _, n := range s.nodes {
		names[n.name]++
	}
	surge := ""
	for _, n := range s.newNodes() {
		if names[n.name] == 1 {
			surge = n.name
		}
	}
	is(s, "names in all", len(names), 4)
	for _, n := range s.oldNodes() {
		is(s, n.name+": how many nodes had that name", names[n.name], 2)
		again := s.node(n.name)
		is(s, n.name+": it has its old uid", again.uid == n.uid, false)
		s.within(n.name+": from its deletion to its return", again.joined-n.gone, time.Minute, 10*time.Minute)
		told := s.eventsOf("upgrader", "Upgrade")
		for _, text := range []string{"Deleting node %s from API server", "Successfully reimaged node: %s", "Successfully upgraded node: %s"} {
			want := strings.ReplaceAll(text, "%s", n.name)
			is(s, "events "+want, len(where(told, func(e *eventLife) bool { return e.message == want })), 1)
		}
		is(s, n.name+": events Drain", len(s.about(n.name, "upgrader", "Drain")), 1)
	}
	s.happens("the surge node's end", s.node(surge).gone)
	s.after("the surge node's end", s.node(surge).gone, "the last reimaged node's Ready", last(s.newNodes(), online))
	is(s, "nodes in the end", len(s.nodesAt(s.end)), 3)
	s.golden(first(s.oldNodes(), nodeGone), s.end)

	s = tell(t, "aks-reimage", "soak=5m")
	gone := times(s.oldNodes(), nodeGone)
	for i := 1; i < len(gone); i++ {
		s.within("between two reimages, with the soak", gone[i]-gone[i-1], 6*time.Minute, 20*time.Minute)
	}
}

// A Machine comes, a Machine goes; old nodes are shunned before they are closed.
func TestCAPIRollout(t *testing.T) {
	t.Parallel()
	s := tell(t, "capi-rollout")
	is(s, "outcome", s.outcome(), "")
	_, most := s.nodesAtOnce()
	is(s, "nodes at the most", most, 4)
	is(s, "nodes that join", len(s.newNodes()), 3)
	for _, n := range s.oldNodes() {
		shunned := n.when(0, func(s nodeStep) bool { return s.has("node.cluster.x-k8s.io/outdated-revision:PreferNoSchedule") })
		s.happens(n.name+": its taint outdated-revision", shunned)
		s.after(n.name+": its cordon", n.cordoned, "its taint outdated-revision", shunned)
		_, drained := s.drain(n)
		s.after(n.name+" is gone", n.gone, "its drain", drained)
	}
	drained, detached := s.eventsOf("machine-controller", "SuccessfulDrainNode"), s.eventsOf("machine-controller", "NodeVolumesDetached")
	is(s, "events SuccessfulDrainNode", len(drained), 3)
	for i, e := range drained {
		s.after("NodeVolumesDetached", detached[i].first(), "SuccessfulDrainNode", e.first())
	}
	is(s, "fewer than five pods are ready", s.leastReady("web") < 5, false)
	s.golden(first(s.oldNodes(), cordoned), s.end)
}

// All old nodes but one are tainted PreferNoSchedule; one more instance; five seconds after each
// drain its instance goes, and the cluster validates twice.
func TestKopsRolling(t *testing.T) {
	t.Parallel()
	s := tell(t, "kops-rolling")
	is(s, "outcome", s.outcome(), "")
	shunned := s.nodesThat(func(n *nodeLife) bool {
		return n.when(0, func(s nodeStep) bool { return s.has("kops.k8s.io/scheduled-for-update:PreferNoSchedule") }) != never
	})
	is(s, "nodes that are shunned", len(shunned), 2)
	_, most := s.nodesAtOnce()
	is(s, "nodes at the most", most, 4)
	closed, gone := times(s.oldNodes(), cordoned), times(s.oldNodes(), nodeGone)
	s.after("the first cordon", closed[0], "the first new node's Ready", first(s.newNodes(), online))
	for i := 1; i < len(closed); i++ {
		s.after("a node's cordon", closed[i], "the end of the one before", gone[i-1])
	}
	is(s, "nodes in the end", len(s.nodesAt(s.end)), 3)
	is(s, "pods of web that are ready in the end", s.readyAt("web", s.end), 6)
	s.golden(closed[0], s.end)
}
