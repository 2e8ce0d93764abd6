package scenarios

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// planRolls has the groups rolled, one after another or all at once.
func (s *Simulation) planRolls() error {
	r := s.file.Roll
	if r == nil {
		return nil
	}
	if w := s.file.RolledInPlace(); w != nil {
		s.running++
		roller := roll.NewPodRoller(s.env, s.podRollConfig(r, w))
		roller.Ended = s.rollEnded
		return nil
	}
	build := s.strategy(r.Strategy)
	if build == nil {
		return fmt.Errorf("roll.strategy: %q: there is nothing that rolls that way", r.Strategy)
	}
	for _, name := range r.Groups {
		config := s.rollConfig(r, s.group(name))
		s.waiting = append(s.waiting, func() {
			s.running++
			roller := roll.New(s.env, config, build)
			roller.Ended = s.rollEnded
		})
	}
	s.nextRoll()
	for r.Parallel && len(s.waiting) > 0 {
		s.nextRoll()
	}
	return nil
}

func (s *Simulation) nextRoll() {
	next := s.waiting[0]
	s.waiting = s.waiting[1:]
	next()
}

func (s *Simulation) rollEnded(o roll.Outcome) {
	s.running--
	s.outcomes = append(s.outcomes, o)
	if s.machines != nil {
		s.machines.Rescale()
	}
	if len(s.waiting) > 0 {
		s.env.After(0, s.nextRoll)
	}
	s.settle()
}

// strategy returns the strategy that rolls a group.
func (s *Simulation) strategy(name spec.Strategy) func(roll.Base) roll.Strategy {
	switch name {
	case spec.StrategyPlain:
		return roll.Plain
	case spec.StrategyEKSDefault:
		return roll.EKSDefault
	case spec.StrategyEKSMinimal:
		return roll.EKSMinimal
	case spec.StrategyKarpenter:
		return roll.KarpenterDrift(s.karpenter)
	case spec.StrategyGKESurge:
		return roll.GKESurge
	case spec.StrategyGKEBlueGreen:
		return roll.GKEBlueGreen
	case spec.StrategyAKSReimage:
		return roll.AKSReimage
	case spec.StrategyCAPI:
		return roll.CAPI(s.machines)
	case spec.StrategyKOps:
		return roll.KOps
	}
	return nil
}

// startProvider starts the provider's own controllers of nodes.
func (s *Simulation) startProvider() error {
	shapes := s.nodeShape
	groups := s.env.Cloud.Groups()
	switch s.file.Cluster.Provider {
	case spec.ProviderKarpenter:
		c := roll.KarpenterConfig{
			Groups: groups, Shapes: shapes, Kubelets: s.kubelet, Interruptions: s.file.Cluster.Handler == spec.HandlerKarpenter, Pools: s.live != nil,
		}
		if s.file.Roll != nil {
			c.GracePeriod, c.Budget = s.file.Roll.EvictionTimeout, s.file.Roll.Budget.String()
		}
		s.karpenter = roll.NewKarpenter(s.env, c)
	case spec.ProviderCAPI:
		c := roll.MachinesConfig{Cluster: s.file.Cluster.Name, Groups: groups, Shapes: shapes, Sets: s.live != nil || s.acting != nil, Scaled: s.acting != nil,
			Rolling: func() bool { return s.running > 0 || len(s.waiting) > 0 },
		}
		if s.file.Autoscaler != nil {
			c.Autoscaled = s.file.Autoscaler.Groups
		}
		if s.file.Roll != nil {
			c.DrainTimeout = s.file.Roll.EvictionTimeout
		}
		s.machines = roll.NewMachines(s.env, c)
	case spec.ProviderKOps:
		roll.NewKopsController(s.env, shapes)
	}
	handler := roll.HandlerConfig{Karpenter: s.karpenter}
	if err := roll.NewInterruptionHandler(s.env, roll.HandlerKind(s.file.Cluster.Handler), handler); err != nil {
		return fmt.Errorf("cluster.handler: %w", err)
	}
	return nil
}

// seedProvider creates the provider's objects for the nodes that are there.
func (s *Simulation) seedProvider() {
	if s.karpenter != nil {
		s.karpenter.SeedNodeClaims()
	}
	if s.machines != nil {
		s.machines.Seed()
	}
}

// podRollConfig is that of a roll in place.
func (s *Simulation) podRollConfig(r *spec.Roll, w *spec.Workload) roll.PodConfig {
	keeper := s.keeperOf(w)
	c := roll.PodConfig{
		Name: w.Name, Namespace: w.Namespace, Selector: convert.LabelsFromAPI(w.Labels()),
		Replicas: keeper.replicas, Redefine: keeper.redefine,
		Container: w.Name, Image: r.Image, At: r.At,
		MaxUnavailable: max(1, r.MaxUnavailable.Of(w.Replicas, false)), Deadline: r.JoinTimeout,
		Rollback: r.OnFailure == spec.OnFailureRollback,
	}
	if q := r.Requests; q != nil {
		if q.CPU != nil {
			c.Requests.CPU = q.CPU.MilliValue()
		}
		if q.Memory != nil {
			c.Requests.Memory = q.Memory.Value()
		}
	}
	return c
}

func (s *Simulation) rollConfig(r *spec.Roll, g *spec.Group) roll.Config {
	c := roll.Config{
		Group: s.env.Cloud.Group(g.Name), From: template(g, g.From, launchFrom), To: template(g, g.To, launchTo),
		Size: g.Nodes, At: r.At,
		// AKS rounds up (maxUnavailable of its API's AgentPoolUpgradeSettings).
		MaxUnavailable: r.MaxUnavailable.Of(g.Nodes, r.Strategy == spec.StrategyAKSReimage), MaxSurge: r.MaxSurge.Of(g.Nodes, true), Budget: r.Budget.Of(g.Nodes, true),
		Force: r.Force, LegacyTaint: r.LegacyTaint, Rollback: r.OnFailure == spec.OnFailureRollback,
		EvictionTimeout: r.EvictionTimeout, JoinTimeout: r.JoinTimeout, Settle: r.SettleAfterDrain, Soak: r.Soak,
		StopAfter: r.StopAfter,
	}
	if r.Budget.IsPercent {
		c.BudgetOf = func(nodes int) int { return r.Budget.Of(nodes, true) }
	}
	if r.RollbackAt > 0 {
		c.RollbackAt = max(1, (int(r.RollbackAt)*g.Nodes+99)/100)
	}
	switch {
	case r.Strategy == spec.StrategyEKSDefault || r.Strategy == spec.StrategyEKSMinimal:
		// UpdateNodegroupConfig of the EKS API: at most 100 nodes at a time.
		c.MaxUnavailable = min(max(1, c.MaxUnavailable), 100)
	case r.Strategy == spec.StrategyKOps && r.MaxUnavailable.IsPercent, // kubernetes/kops, pkg/instancegroups/settings.go, resolveSettings
		r.Strategy == spec.StrategyCAPI && c.MaxSurge == 0: // kubernetes-sigs/cluster-api, mdutil.ResolveFenceposts
		c.MaxUnavailable = max(1, c.MaxUnavailable)
	}
	return c
}
