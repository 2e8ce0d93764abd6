package roll

import (
	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/api"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
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
// terminated. In the end the group shrinks to its size one node at a time, and
// it is new nodes that go.
//
// None of that leaves an Event: EKS reports through its own API.
type eksDefault struct {
	Base
	phase    eksPhase
	surge    int
	cordoned bool
	lots     map[string]int
}

type eksPhase int

const (
	eksScaleUp eksPhase = iota
	eksUpgrade
	eksScaleDown
)

// EKSDefault is the strategy DEFAULT; with Force, an update that was forced.
func EKSDefault(b Base) Strategy { return &eksDefault{Base: b, lots: map[string]int{}} }

func (s *eksDefault) Begin() {
	s.phase, s.cordoned = eksScaleUp, false
	s.surge = max(2*len(s.cfg.Group.Zones), s.cfg.MaxUnavailable)
}

func (s *eksDefault) Options(c cycle.Cluster) (cycle.Options, bool) {
	s.advance(c)
	o := cycle.Options{MaxDraining: cycle.AtMost(max(1, s.cfg.MaxUnavailable)), Rank: s.lot}
	if s.phase == eksScaleDown {
		o.TargetSize = s.cfg.Size
		o.MaxDraining = cycle.AtMost(1)
		o.MaxSurge = cycle.AtMost(s.surge)
		return o, true
	}
	o.TargetSize = s.cfg.Size + s.surge
	o.MaxSurge = cycle.AtMost(0)
	o.MaxUnavailable = cycle.AtMost(max(1, s.cfg.MaxUnavailable))
	if !s.cordoned {
		o.MayDrain = func(cycle.InstanceID) (bool, string) { return false, "old nodes are not cordoned yet" }
	}
	return o, false
}

// advance goes to the next phase where the group has reached it.
func (s *eksDefault) advance(c cycle.Cluster) {
	switch s.phase {
	case eksScaleUp:
		if s.scaledUp(c) {
			s.phase = eksUpgrade
			s.cordonOld()
		}
	case eksUpgrade:
		for _, i := range c.Instances {
			if i.Config != c.Config && i.State != cycle.Terminating {
				return
			}
		}
		s.phase = eksScaleDown
	}
}

// scaledUp reports whether the new nodes are Ready, and one is in every zone that
// has old ones.
func (s *eksDefault) scaledUp(c cycle.Cluster) bool {
	zones := map[string]bool{}
	fresh := 0
	for _, i := range c.Instances {
		if i.Config == c.Config {
			if i.State != cycle.Started || !s.ready(i.ID) {
				return false
			}
			fresh++
			zones[s.env.Cloud.Instance(string(i.ID)).Zone] = true
		}
	}
	if fresh < s.surge {
		return false
	}
	for _, i := range c.Instances {
		if i.Config != c.Config && i.State == cycle.Started && !zones[s.env.Cloud.Instance(string(i.ID)).Zone] {
			return false
		}
	}
	return true
}

// cordonOld makes all old nodes unschedulable, 20 to 200 ms apart.
func (s *eksDefault) cordonOld() {
	var next func(old []*cloud.Instance)
	next = func(old []*cloud.Instance) {
		for len(old) > 0 && (old[0].State == cloud.ShuttingDown || s.env.API.Node(old[0].Name) == nil) {
			old = old[1:]
		}
		if len(old) == 0 || s.over {
			s.cordoned = true
			s.look()
			return
		}
		n := s.env.API.Node(old[0].Name)
		s.cordon(n, excludeBalancers, "true")
		if s.cfg.LegacyTaint {
			s.taint(n, api.Taint{Key: "eks.amazonaws.com/nodegroup", Value: "unschedulable", Effect: "NoSchedule"})
		}
		s.env.After(s.env.Draw(&s.chance, s.env.Timings.CordonSpacing), func() { next(old[1:]) })
	}
	var old []*cloud.Instance
	for _, i := range s.cfg.Group.Instances() {
		if configOf(i.Template) != configOf(s.target) {
			old = append(old, i)
		}
	}
	next(old)
}

// lot draws which old node goes next.
func (s *eksDefault) lot(id cycle.InstanceID) int {
	n, drawn := s.lots[string(id)]
	if !drawn {
		stream := s.env.Stream("roller", "lot", string(id))
		n = int(stream.N(1 << 30))
		s.lots[string(id)] = n
	}
	return n
}

func (s *eksDefault) Drain(i *cloud.Instance, n *api.Node, done func(error)) {
	s.cordon(n, excludeBalancers, "true")
	how := s.eviction()
	if s.phase == eksScaleDown {
		// The Auto Scaling group takes the node when the drain's time is over,
		// whatever is on it.
		how.Force = true
	}
	s.drainNode(n, how, done)
}

// eksMinimal is the update of a managed node group with the strategy MINIMAL:
// old nodes are drained and terminated first, maxUnavailable at a time, and the
// Auto Scaling group launches new ones in their place.
type eksMinimal struct{ Base }

// EKSMinimal is the strategy MINIMAL.
func EKSMinimal(b Base) Strategy { return eksMinimal{b} }

func (s eksMinimal) Options(cycle.Cluster) (cycle.Options, bool) {
	n := max(1, s.cfg.MaxUnavailable)
	return cycle.Options{
		TargetSize: s.cfg.Size, MaxSurge: cycle.AtMost(0), MaxUnavailable: cycle.AtMost(n), MaxDraining: cycle.AtMost(n),
	}, true
}

func (s eksMinimal) Drain(i *cloud.Instance, n *api.Node, done func(error)) {
	s.cordon(n, excludeBalancers, "true")
	s.drainNode(n, s.eviction(), done)
}
