package roll

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// eksDefault is the update of an EKS managed node group with the strategy
// DEFAULT ("Understand each phase of node updates" in the EKS user guide). In
// its words: set up, scale up, upgrade, scale down.
//
// The Auto Scaling group grows by twice the number of zones, or by
// maxUnavailable where that is more. When a new node is Ready in every zone that
// has old ones, and all new nodes are, every old node is cordoned and taken out
// of the load balancers, in one pass. Then old nodes are drained, drawn by lot,
// maxUnavailable at a time; a minute after each drain the instance is
// terminated, and the Auto Scaling group launches another in its place. In the
// end the group shrinks to its size one node at a time, and it is new nodes that
// go.
//
// None of that leaves an Event: EKS reports through its own API.
type eksDefault struct {
	eks
	phase      eksPhase
	surge      int
	cordoned   bool
	drawnRanks map[string]int
	// nextStep is when the group may shrink once more.
	nextStep time.Duration
	// desired is the size that the roll has left the group at: what it scales up to, or the size that a resumed roll
	// has found, until it shrinks.
	desired int
	left    bool // another client has made the group larger
}

type eksPhase int

const (
	eksScaleUp eksPhase = iota
	eksUpgrade
	eksScaleDown
)

// EKSDefault is the strategy DEFAULT; with Force, an update that was forced.
func EKSDefault(b Base) Strategy { return &eksDefault{eks: eks{b}, drawnRanks: map[string]int{}} }

func (s *eksDefault) Begin() {
	s.phase, s.cordoned, s.left = eksScaleUp, false, false
	s.surge = max(2*len(s.cfg.Group.Zones), s.cfg.MaxUnavailable)
	s.desired = max(s.cfg.Size+s.surge, s.cfg.Group.Desired)
}

func (s *eksDefault) Options(c cycle.Cluster) (cycle.Options, bool) {
	s.advance(c)
	parallel := max(1, s.cfg.MaxUnavailable)
	if s.phase == eksScaleDown && s.leaves() {
		n := s.cfg.Group.Desired
		return cycle.Options{TargetSize: n, MinSize: 0, MaxDraining: cycle.AtMost(0)}, true
	}
	if s.phase == eksScaleDown {
		o := cycle.Options{
			TargetSize: s.cfg.Size, MaxSurge: cycle.AtMost(s.surge), MaxDraining: cycle.AtMost(1), Rank: s.fullestZone(c),
		}
		if now := s.env.Now(); now < s.nextStep {
			o.MayDrain = func(cycle.InstanceID) (bool, string) { return false, "the group has just shrunk" }
			s.lookAt(s.nextStep)
		}
		return o, true
	}
	o := cycle.Options{
		TargetSize: max(s.cfg.Size+s.surge, s.cfg.Group.Desired), MaxSurge: cycle.AtMost(0), MaxUnavailable: cycle.AtMost(parallel),
		MaxDraining: cycle.AtMost(parallel), Rank: s.drawnRank,
	}
	if !s.cordoned {
		o.MayDrain = func(cycle.InstanceID) (bool, string) { return false, "old nodes are not cordoned yet" }
	}
	return o, false
}

// leaves reports whether the group stays as large as it is: where the Cluster
// Autoscaler scales it up meanwhile, EKS ends the update without restoring its
// size ("Scale down phase" of "Understand each phase of node updates").
func (s *eksDefault) leaves() bool {
	desired := s.cfg.Group.Desired
	s.left = s.left || desired > s.desired
	s.desired = min(s.desired, desired)
	return s.left
}

// Waits while the group scales up: it fails as well where nodes come, but not in
// every zone that needs one.
func (s *eksDefault) Waits(c cycle.Cluster) bool { return s.phase == eksScaleUp || s.eks.Waits(c) }

// advance goes to the next phase where the group has reached it.
func (s *eksDefault) advance(c cycle.Cluster) {
	switch s.phase {
	case eksScaleUp:
		if s.scaledUp(c) {
			s.phase = eksUpgrade
			s.cordonOld()
		}
	case eksUpgrade:
		for i := range c.Instances {
			if in := &c.Instances[i]; in.Config != c.Config || in.State == cycle.Starting {
				return
			}
		}
		s.phase = eksScaleDown
	}
}

// scaledUp reports whether the group has grown, the new nodes are Ready, and one
// is in every zone that has old ones. A group that goes back has grown already,
// and the nodes that it goes back to stand where they stand.
func (s *eksDefault) scaledUp(c cycle.Cluster) bool {
	zones := map[string]bool{}
	total := 0
	for i := range c.Instances {
		in := &c.Instances[i]
		if in.State == cycle.Terminating {
			continue
		}
		total++
		if in.Config != c.Config {
			continue
		}
		if in.State != cycle.Started || !s.ready(in.ID) {
			return false
		}
		zones[s.zone(in.ID)] = true
	}
	if total < s.cfg.Size+s.surge {
		return false
	}
	for i := range c.Instances {
		in := &c.Instances[i]
		if !s.rolled && in.Config != c.Config && in.State == cycle.Started && !zones[s.zone(in.ID)] {
			return false
		}
	}
	return true
}

// cordonOld makes all old nodes unschedulable, one shortly after the other.
func (s *eksDefault) cordonOld() {
	var old []*cloud.Instance
	for _, i := range s.cfg.Group.Instances() {
		if s.old(i) {
			old = append(old, i)
		}
	}
	target := s.target
	var next func()
	next = func() {
		for len(old) > 0 && (old[0].State == cloud.ShuttingDown || old[0].State == cloud.Terminated || s.env.API.Node(old[0].Name) == nil) {
			old = old[1:]
		}
		switch {
		case s.over || s.target != target:
			return
		case len(old) == 0:
			s.cordoned = true
			s.look()
			return
		}
		s.retire(s.env.API.Node(old[0].Name))
		old = old[1:]
		s.env.After(s.env.Draw(&s.chance, s.env.Timings.CordonSpacing), next)
	}
	next()
}

// drawnRank draws which old node goes next: nodes are selected at random, as the
// documentation has it.
func (s *eksDefault) drawnRank(id cycle.InstanceID) int {
	n, drawn := s.drawnRanks[string(id)]
	if !drawn {
		stream := s.env.Stream("roller", "lot", string(id))
		n = int(stream.N(1 << 30))
		s.drawnRanks[string(id)] = n
	}
	return n
}

// fullestZone ranks the instances of the fullest zone first, as an Auto Scaling
// group does that shrinks (its default termination policy).
func (s *eksDefault) fullestZone(c cycle.Cluster) func(cycle.InstanceID) int {
	count := map[string]int{}
	for i := range c.Instances {
		if c.Instances[i].State == cycle.Started {
			count[s.zone(c.Instances[i].ID)]++
		}
	}
	return func(id cycle.InstanceID) int { return -count[s.zone(id)] }
}

func (s *eksDefault) Drain(_ *cloud.Instance, n *kube.Node, done func(error)) {
	s.retire(n)
	how := s.eviction()
	if s.phase == eksScaleDown {
		// A group that shrinks takes the node when the drain's time is over, whatever is on it
		// (docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html, "Managed node groups concepts").
		how.Force = false
		ended := done
		done = func(error) { ended(nil) }
	}
	s.drains.Drain(n, how, done)
}

// Remove has the Auto Scaling group replace the instance, or, once it shrinks,
// not.
func (s *eksDefault) Remove(i *cloud.Instance, _ *kube.Node) {
	shrink := s.phase == eksScaleDown
	s.env.Cloud.Terminate(i, shrink)
	if shrink {
		s.nextStep = s.env.Now() + s.env.Draw(&s.chance, s.env.Timings.ScaleDownStep)
	}
}
