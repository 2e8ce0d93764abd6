// Package scheduler is kube-scheduler with its default profile in a simulated cluster.
//
// In: nodes and pods that wait. Out: bindings, evictions of less important pods, Events. It must never start or stop a
// node.
package scheduler

import (
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Scheduler is kube-scheduler with its default profile: it takes one waiting
// pod after the other, the most important first, filters the nodes, scores those
// that are left, and binds. Of its plugins there are SchedulingGates,
// NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit,
// NodeVolumeLimits, VolumeBinding (zones), PodTopologySpread, InterPodAffinity
// and DefaultPreemption, and all scores. test/scheduler has kube-scheduler's own
// code say what it makes of the same pods.
//
// What pods of scenarios ask for is quick: their constraints on zones and hosts
// count the pods of their own workload. What clients' pods demand besides
// ([kube.Demands]) is looked at one node after the other.
//
// A pod that was found a node takes its room at once, and is bound some
// milliseconds later. One that fits nowhere is parked until a node or the end of
// a pod may help.
//
// The costs: a pod is found a node in the time that it takes to score a hundred,
// however many there are; pods of one template that fit nowhere share their
// failure.
type Scheduler struct {
	Env      *component.Env
	reporter Reporter
	stream   model.Stream

	nodes    map[string]*schedNode
	numbers  []int // of nodes that are gone, to be used again
	numbered int
	groups   map[string]*NodeGroup
	inOrder  []*NodeGroup
	epoch    int
	selected []string // labels that tell groups apart, sorted
	zones    []string // by number; the first is none
	version  uint64   // counts what could change a pod's fate

	classes     []*podClass
	byTemplate  map[*kube.Template]*podClass
	needs       map[need]*need
	last        *podClass
	families    []*podFamily
	byOrigin    map[*kube.Template]*podFamily
	resizing    map[*kube.Pod]component.Room // what pods hold that are being resized
	podCounts   *podCounts                   // nil as long as no pod has terms about others
	byNamespace bool                         // a term selects namespaces by their labels
	namespaces  map[string]kube.Pairs        // their labels

	waiting map[*kube.Pod]*waitingPod
	assumed map[*kube.Pod]*schedNode // found, and not yet bound
	// claims are the zones of volumes; 0 is any. No tape holds PersistentVolumes, whose
	// node affinity this is: a volume is made where its first pod is bound.
	claims         map[ClaimName]int
	volumeLimits   map[string]int // of nodes whose CSINode says it
	volumesLimited bool           // some node has had a limit
	images         map[string]*nodeImage

	nominees []*waitingPod

	ranks   []rank // pods on nodes by their priority
	queues  []*priorityQueue
	parked  int // pods
	running bool
	// busyUntil is when the scheduler is done with the pod that it has.
	busyUntil time.Duration

	scratch  []byte
	feasible []feasibleNode
	zoneSeen []bool
}

// New returns the scheduler. It knows the nodes and pods that are
// there.
func New(env *component.Env) *Scheduler {
	s := &Scheduler{
		Env: env, stream: env.Stream("scheduler"),
		nodes: map[string]*schedNode{}, groups: map[string]*NodeGroup{}, selected: []string{component.LabelZone}, zones: []string{""},
		byTemplate: map[*kube.Template]*podClass{}, needs: map[need]*need{}, byOrigin: map[*kube.Template]*podFamily{}, resizing: map[*kube.Pod]component.Room{}, waiting: map[*kube.Pod]*waitingPod{},
		assumed: map[*kube.Pod]*schedNode{}, claims: map[ClaimName]int{}, images: map[string]*nodeImage{},
	}
	host := env.Stream("scheduler", "host")
	s.reporter = Reporter{Env: env, Name: component.SchedulerName, Instance: component.SchedulerName + "-ip-10-0-0-" + strconv.FormatUint(4+host.N(250), 10)}
	for _, n := range env.API.Nodes() {
		s.addNode(n)
	}
	for _, p := range env.API.Pods() {
		if p.NodeName == "" {
			s.pod(kube.Added, nil, p)
		}
	}
	env.API.WatchNodes(s.node)
	env.API.WatchPods(s.pod)
	return s
}

// pod follows the pods of the API.
func (s *Scheduler) pod(c kube.Change, old, p *kube.Pod) {
	s.follow(c, old, p)
	s.recount(p)
}

// mine reports whether a pod is to be scheduled, and not by another scheduler.
func mine(p *kube.Pod) bool {
	return p.NodeName == "" && !p.Gated && !p.Terminal() && (p.Template.SchedulerName == "" || p.Template.SchedulerName == component.SchedulerName)
}

// wait has a pod wait for a node.
func (s *Scheduler) wait(p *kube.Pod) {
	w := &waitingPod{pod: p, class: s.classOf(p)}
	s.waiting[p] = w
	s.activate(w)
}

func (s *Scheduler) follow(c kube.Change, old, p *kube.Pod) {
	switch c {
	case kube.Added:
		switch n := s.nodes[p.NodeName]; {
		case p.Terminal():
		case p.NodeName == "":
			if mine(p) {
				s.wait(p)
			}
		case n != nil && s.assumed[p] == n: // seeded
			delete(s.assumed, p)
		case n != nil:
			s.take(n, p)
		}
	case kube.Modified:
		s.redefined(old, p)
		if old.NodeName != p.NodeName {
			s.bound(p)
		}
		if old.NodeName == "" || p.NodeName == "" {
			s.rewritten(old, p)
		}
		deleted, ended := p.Terminating() && !old.Terminating(), p.Terminal() && !old.Terminal()
		if !deleted && !ended {
			return
		}
		if p.NodeName == "" && deleted {
			if w := s.waiting[p]; w != nil {
				s.retry([]*waitingPod{w})
			}
		}
		switch n := s.holder(p); {
		case n == nil:
		case ended:
			s.release(n, p, !old.Terminating())
		case !p.Terminal():
			s.class(p, n, -1)
		}
	case kube.Deleted:
		if w := s.waiting[p]; w != nil {
			s.settle(w)
		}
		if n := s.holder(p); n != nil && !old.Terminal() {
			s.release(n, p, !old.Terminating())
		}
		delete(s.assumed, p)
	}
}

// rewritten follows a pod that waits and that a client has changed: its gates may
// be open, and it may ask for something else.
func (s *Scheduler) rewritten(old, p *kube.Pod) {
	w := s.waiting[p]
	switch {
	case w == nil:
		if old.Gated && mine(p) && s.assumed[p] == nil {
			s.wait(p)
		}
	case w.class.template != p.Template || !slices.Equal(old.Labels, p.Labels):
		if i := slices.Index(w.class.parked, w); i >= 0 {
			w.class.parked = slices.Delete(slices.Clone(w.class.parked), i, i+1)
			s.parked--
		}
		nominated := s.withdraw(w)
		w.class = s.classOf(p)
		if nominated != nil {
			s.nominate(w, nominated)
		}
		s.retry([]*waitingPod{w})
	}
}

// settle forgets a pod that waits no longer.
func (s *Scheduler) settle(w *waitingPod) {
	w.done = true
	delete(s.waiting, w.pod)
	s.withdraw(w)
}

// holder returns the node whose room a pod takes, or nil.
func (s *Scheduler) holder(p *kube.Pod) *schedNode {
	n := s.assumed[p]
	if n == nil {
		n = s.nodes[p.NodeName]
	}
	if n == nil || n.gone {
		return nil
	}
	return n
}

// bound notes that a pod has a node.
func (s *Scheduler) bound(p *kube.Pod) {
	if w := s.waiting[p]; w != nil {
		s.settle(w)
	}
	n := s.nodes[p.NodeName]
	if was := s.assumed[p]; was != nil {
		delete(s.assumed, p)
		if was == n {
			return
		}
		if !was.gone {
			s.release(was, p, !p.Terminating())
		}
	}
	if n != nil && !p.Terminal() {
		s.take(n, p)
	}
}

// take gives a pod its room on a node.
func (s *Scheduler) take(n *schedNode, p *kube.Pod) {
	c := s.classOf(p)
	n.used = n.used.Plus(c.need)
	n.scored = n.scored.Plus(c.scored)
	n.uses(c.template, 1)
	s.rank(c, 1)
	n.resized()
	n.mounts(p, 1)
	s.binds(p, n)
	if !p.Terminating() {
		c.count(n, 1)
	}
	s.version++
}

// release takes a pod's room back. counted says that the pod counts among those
// of its class.
func (s *Scheduler) release(n *schedNode, p *kube.Pod, counted bool) {
	c := s.classOf(p)
	n.used = n.used.Minus(s.holds(p))
	n.scored = n.scored.Minus(c.scored)
	n.uses(c.template, -1)
	n.mounts(p, -1)
	delete(s.resizing, p)
	s.rank(c, -1)
	n.resized()
	if counted {
		c.count(n, -1)
	}
	s.version++
	s.opened(n)
}

// class counts a pod of a class on a node, or no longer.
func (s *Scheduler) class(p *kube.Pod, n *schedNode, by int) {
	c := s.classOf(p)
	c.count(n, by)
	s.version++
	if len(c.hard) > 0 && len(c.parked) > 0 {
		s.wake(c)
	}
}
