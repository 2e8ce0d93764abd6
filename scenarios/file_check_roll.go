package scenarios

import (
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/model"
)

func (c *checker) roll() *Error {
	r := c.f.Roll
	if r == nil {
		return nil
	}
	provider := c.f.Cluster.Provider
	w := r.way()
	if w == nil || !w.of(provider) {
		return c.bad("roll.strategy", fmt.Sprintf("%q", r.Strategy), fmt.Sprintf("%s for the provider %s", list(strategiesOf(provider)), provider))
	}
	if err := c.groupList("roll.groups", r.Groups); err != nil {
		return err
	}
	if err := c.within("roll.at", r.At); err != nil {
		return err
	}
	if err := c.choices(r, w); err != nil {
		return err
	}
	if w.maxSurge != nil && r.MaxSurge.Value == 0 && r.MaxUnavailable.Value == 0 {
		return c.bad("roll.maxSurge", "0, and maxUnavailable 0 as well", "one of them above 0: nothing could be replaced")
	}
	if r.Strategy == StrategyEKSDefault || r.Strategy == StrategyEKSMinimal || r.Strategy == StrategyGKEBlueGreen {
		if r.MaxUnavailable.Value < 1 || r.MaxUnavailable.Value > 100 {
			return c.bad("roll.maxUnavailable", r.MaxUnavailable.String(), fmt.Sprintf("1 to 100 for the strategy %s", r.Strategy))
		}
	}
	for _, name := range r.Groups {
		i := slices.IndexFunc(c.f.Groups, func(g Group) bool { return g.Name == name })
		if c.f.Groups[i].From == c.f.Groups[i].To {
			return c.bad(fmt.Sprintf("groups[%d].to", i), "what the nodes run already", "something that differs from `from`: there is nothing to roll")
		}
	}
	return nil
}

// choices refuses what the strategy doesn't have.
func (c *checker) choices(r *Roll, w *way) *Error {
	none := func(key, found string) *Error {
		return c.bad("roll."+key, found, fmt.Sprintf("no %s for the strategy %s, which has no such choice", key, r.Strategy))
	}
	for _, v := range r.numbers(w) {
		if v.usual == nil && c.has("roll."+v.key) {
			return none(v.key, v.value.String())
		}
	}
	for _, v := range r.durations(w) {
		if v.usual == nil && c.has("roll."+v.key) {
			return none(v.key, short(*v.value))
		}
	}
	switch {
	case r.Force && !w.force:
		return none("force", "true")
	case r.LegacyTaint && !w.legacyTaint:
		return none("legacyTaint", "true")
	case r.RollbackAt > 0 && r.StopAfter > 0:
		return c.bad("roll.rollbackAt", r.RollbackAt.String(), "none with stopAfter: the roll stalls there")
	}
	return nil
}

// rounds are the timings after which something is looked at again, for as long
// as the tape goes on.
var rounds = []string{
	"capacityRetry", "leaseRenew", "statusSync", "statusReport", "statusReportAfterChange", "pressureSync", "schedulerRetry",
	"monitorPeriod", "podGCPeriod", "cloudNodePeriod", "rollerPoll", "evictionRetry", "autoscalerScan", "disruptionPoll",
	"terminationRequeue",
}

// shortestRound keeps a file from asking for millions of rounds a minute.
const shortestRound = 100 * time.Millisecond

// timings refuses names that no duration has, and rounds that are too short.
func (c *checker) timings() *Error {
	var known []string
	for _, t := range model.TimingNames() {
		known = append(known, t.Name)
	}
	for _, t := range c.f.Timings {
		if !slices.Contains(known, t.Name) {
			return c.unknown("timings."+t.Name, "timing", t.Name, known)
		}
		if usual := t.Dist.Model().Median(); usual < shortestRound && slices.Contains(rounds, t.Name) {
			return c.bad("timings."+t.Name, usual.String()+" in the middle", "at least "+shortestRound.String()+", since it is waited for again and again")
		}
	}
	return nil
}
