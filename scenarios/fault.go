package scenarios

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// scheduled is a fault that has yet to happen, or has.
type scheduled struct {
	*spec.Fault
	sim   *Simulation
	began bool
}

// planFaults puts the faults in the loop, and has those watch that wait for a
// state. A fault that waits for what never comes holds up nothing: the tape ends
// when the roll has.
func (s *Simulation) planFaults() { s.planFaultsFrom(0) }

// planFaultsFrom is planFaults for a scenario that resumes at a moment: faults due before have begun. One that waits
// for a state may come again.
func (s *Simulation) planFaultsFrom(moment time.Duration) {
	var all []*scheduled
	for i := range s.file.Faults {
		if f := &s.file.Faults[i]; f.If == nil || *f.If {
			all = append(all, &scheduled{Fault: f, sim: s})
		}
	}
	var states []*scheduled
	for _, f := range all {
		switch {
		case f.At != nil && *f.At < moment:
			f.past(all, *f.At, moment)
		case f.At != nil:
			s.pending++
			s.env.At(*f.At, func() { s.pending--; f.begin(all) })
		case f.When != nil:
			states = append(states, f)
		}
	}
	if len(states) > 0 {
		newStateWatcher(s, states, func(f *scheduled) {
			s.pending++
			s.settle()
			s.env.After(f.When.Delay, func() { s.pending--; f.begin(all) })
		})
	}
}

// past notes that the fault has begun at a moment before now, and does again what of
// it still lasts; those that follow it and are still to come do.
func (f *scheduled) past(all []*scheduled, at, now time.Duration) {
	f.began = true
	f.sim.resume(f.Fault, now-at)
	for _, next := range all {
		if f.Name == "" || next.After == nil || next.After.Fault != f.Name || next.began {
			continue
		}
		if begins := at + next.After.Delay; begins < now {
			next.past(all, begins, now)
		} else {
			f.sim.pending++
			f.sim.env.At(begins, func() { f.sim.pending--; next.begin(all) })
		}
	}
}

// begin lets the fault happen, and those that follow it in their time.
func (f *scheduled) begin(all []*scheduled) {
	if f.began {
		return
	}
	f.began = true
	f.sim.act(f.Fault)
	for _, next := range all {
		if f.Name != "" && next.After != nil && next.After.Fault == f.Name {
			f.sim.pending++
			f.sim.env.After(next.After.Delay, func() { f.sim.pending--; next.begin(all) })
		}
	}
	f.sim.settle()
}

// stateWatcher waits for states of the cluster.
type stateWatcher struct {
	sim  *Simulation
	wait []*scheduled
	then func(*scheduled)
	// What was there and is gone: terminated nodes and evicted pods.
	terminated map[string]int // by group
	evicted    map[evictedFrom]int
	queued     bool
}

// evictedFrom is the group of the node that a pod was evicted from, "" for any, and the pod's workload, none for any.
type evictedFrom struct {
	group    string
	workload types.NamespacedName
}

func newStateWatcher(s *Simulation, wait []*scheduled, then func(*scheduled)) {
	l := &stateWatcher{sim: s, wait: wait, then: then, terminated: map[string]int{}, evicted: map[evictedFrom]int{}}
	s.env.API.WatchNodes(func(c kube.Change, _, n *kube.Node) {
		if c == kube.Deleted {
			l.terminated[l.groupOf(n.Name)]++
			l.terminated[""]++
		}
		l.look()
	})
	s.env.API.WatchPods(func(c kube.Change, old, p *kube.Pod) {
		if c == kube.Modified && p.Conditions.Is("DisruptionTarget", "True") && !old.Conditions.Is("DisruptionTarget", "True") {
			group := l.groupOf(p.NodeName)
			if w := s.workloadOfPod(p.Namespace, p.Labels.Lookup); w != nil {
				l.evicted[evictedFrom{"", w.Key()}]++
				l.evicted[evictedFrom{group, w.Key()}]++
			}
			l.evicted[evictedFrom{}]++
			l.evicted[evictedFrom{group: group}]++
			l.look()
		} else if c != kube.Modified || old.Phase != p.Phase {
			l.look()
		}
	})
}

// look checks once after all that happens in this moment.
func (l *stateWatcher) look() {
	if l.queued || len(l.wait) == 0 {
		return
	}
	l.queued = true
	l.sim.env.After(0, func() {
		l.queued = false
		var still []*scheduled
		for _, f := range l.wait {
			if l.reached(f.When) {
				l.then(f)
			} else {
				still = append(still, f)
			}
		}
		l.wait = still
	})
}

func (l *stateWatcher) groupOf(node string) string {
	if i := l.sim.env.Cloud.ByNode(node); i != nil {
		return i.Group.Name
	}
	return ""
}

func (l *stateWatcher) reached(w *spec.When) bool {
	if w.Nodes != "" {
		return l.nodes(w) >= w.Count
	}
	return l.pods(w) >= w.Count
}

func (l *stateWatcher) nodes(w *spec.When) (count int) {
	if w.Nodes == spec.NodeTerminated {
		return l.terminated[w.Group]
	}
	for _, n := range l.sim.env.API.Nodes() {
		if w.Group != "" && l.groupOf(n.Name) != w.Group {
			continue
		}
		if l.sim.stateOf(n) == w.Nodes {
			count++
		}
	}
	return count
}

// stateOf is a node's state, as a feed has it.
func (s *Simulation) stateOf(n *kube.Node) spec.NodeState {
	switch {
	case n.Unschedulable || n.HasTaint("karpenter.sh/disrupted", "") || n.Terminating():
		return spec.NodeDraining
	case n.Ready():
		return spec.NodeOnline
	case s.env.API.Now().Sub(n.Created) < 30*time.Minute && !n.HasTaint("node.kubernetes.io/unreachable", ""):
		return spec.NodeJoining
	}
	return spec.NodeNotReady
}

func (l *stateWatcher) pods(w *spec.When) (count int) {
	if w.Pods == spec.PodEvicted {
		from := evictedFrom{group: w.Group}
		if of := l.sim.workloadOf(w.Workload); of != nil {
			from.workload = of.Key()
		}
		return l.evicted[from]
	}
	of := l.sim.workloadOf(w.Workload)
	for _, p := range l.sim.env.API.Pods() {
		if p.Phase == "Pending" && p.NodeName == "" && (of == nil || l.sim.isOf(p, of)) {
			count++
		}
	}
	return count
}
