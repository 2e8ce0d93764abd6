package scenarios

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios/internal/roll"
)

// planRolls has the groups rolled, one after another or all at once.
func (s *Simulation) planRolls() error {
	r := s.file.Roll
	if r == nil {
		return nil
	}
	build := strategies[r.Strategy]
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
	if len(s.waiting) > 0 {
		s.env.After(0, s.nextRoll)
	}
	s.settle()
}

// strategies by their names in a file.
var strategies = map[Strategy]func(roll.Base) roll.Strategy{
	StrategyPlain:      roll.Plain,
	StrategyEKSDefault: roll.EKSDefault,
	StrategyEKSMinimal: roll.EKSMinimal,
}

func (s *Simulation) rollConfig(r *Roll, g *Group) roll.Config {
	c := roll.Config{
		Group: s.env.Cloud.Group(g.Name), From: template(g, g.From, launchFrom), To: template(g, g.To, launchTo),
		Size: g.Nodes, At: r.At,
		MaxUnavailable: r.MaxUnavailable.Of(g.Nodes, false), MaxSurge: r.MaxSurge.Of(g.Nodes, true), Budget: r.Budget.Of(g.Nodes, true),
		Force: r.Force, LegacyTaint: r.LegacyTaint, Rollback: r.OnFailure == OnFailureRollback,
		EvictionTimeout: r.EvictionTimeout, JoinTimeout: r.JoinTimeout, Settle: r.SettleAfterDrain, Soak: r.Soak,
		StopAfter: r.StopAfter,
	}
	if r.RollbackAt > 0 {
		c.RollbackAt = max(1, (int(r.RollbackAt)*g.Nodes+99)/100)
	}
	if r.Strategy == StrategyEKSDefault || r.Strategy == StrategyEKSMinimal {
		// UpdateNodegroupConfig of the EKS API: at most 100 nodes at a time.
		c.MaxUnavailable = min(max(1, c.MaxUnavailable), 100)
	}
	return c
}
