package cycle

import (
	"cmp"
	"slices"
)

// Plan decides what to do next for a cluster. It keeps nothing between calls: describe, plan, do, and plan again from what
// is there then. It takes O(n log n) for n instances, and O(n) where nothing may be drained, few may be, or they are listed by
// age. A list that is sorted by id is cheapest.
//
// Errors are an *OptionError, an *InstanceError (an empty id, or one id with two stories) and a *BoundsError; the Decision
// is then zero. That nothing can be done is no error but a Decision that is Stuck.
func Plan(cluster Cluster, options Options) (Decision, error) {
	if err := options.check(); err != nil {
		return Decision{}, err
	}
	p := assessment{cluster: &cluster, options: &options}
	if err := p.classify(); err != nil {
		return Decision{}, err
	}
	p.hold()
	if p.mode == Roll && p.impossible() {
		return Decision{}, &BoundsError{cluster.ID, len(p.old) - p.idle, p.census.Floor, p.census.Ceiling}
	}
	p.starts()
	p.drains()
	p.removals()
	return p.decision(), nil
}

// hold settles how far this plan may go: as Mode says, and no further than Pause where too many failed.
func (p *assessment) hold() {
	slices.Sort(p.failures)
	p.failures = slices.Compact(p.failures)
	p.mode = p.options.Mode
	if p.mode != Roll {
		p.block(Reason(p.mode), 0, "as asked")
	}
	if budget, ok := p.options.FailureBudget.Get(); ok && len(p.failures) > budget && p.mode != Abort {
		p.mode = Pause
		p.block(ReasonFailureBudget, 0, itoa(len(p.failures))+" failed, "+itoa(budget)+" may")
	}
}

// impossible says whether the bounds leave no room to replace what serves: neither one fewer nor one more.
func (p *assessment) impossible() bool {
	c := &p.census
	return c.Floor == c.Ceiling && len(p.old) > p.idle && p.alive < c.Floor
}

// starts orders what is missing, as far as the ceiling leaves room.
func (p *assessment) starts() {
	missing := p.census.Wanted
	if p.mode != Roll || missing <= 0 {
		return
	}
	n := missing
	if p.census.Ceiling >= 0 {
		n = min(missing, max(0, p.census.Ceiling-p.census.Listed))
	}
	if n > 0 {
		p.start = Step{Kind: Start, Cluster: p.cluster.ID, Count: n, Reason: ReasonScaleUp}
		if p.census.Outdated > 0 {
			p.start.Reason = ReasonOutdated
		}
	}
	if n < missing {
		p.block(ReasonCeiling, missing-n, itoa(p.census.Listed)+" listed of at most "+itoa(p.census.Ceiling))
	}
}

// removals takes out what failed or is not wanted and never served.
func (p *assessment) removals() {
	if p.options.Mode != Pause {
		p.terminate = append(p.terminate, p.remove...)
		return
	}
	for _, t := range p.remove {
		p.blockInstance(ReasonKept, t.ID, string(t.Reason))
	}
}

// decision puts the steps into their order and says how the roll stands.
func (p *assessment) decision() Decision {
	d := Decision{Failures: p.failures, Again: p.again, Census: p.census}
	if p.start.Count > 0 {
		d.Steps = append(d.Steps, p.start)
	}
	add := func(kind Kind, await InstanceState, targets []Target) {
		if len(targets) == 0 {
			return
		}
		if kind != Drain {
			sortTargets(targets)
		}
		d.Steps = append(d.Steps, Step{
			Kind: kind, Cluster: p.cluster.ID, Count: len(targets), Await: await, Targets: targets,
		})
	}
	add(Wait, Started, p.starting)
	add(Drain, "", p.drain)
	add(Terminate, "", p.terminate)
	add(Wait, Drained, p.draining)
	add(Wait, Terminated, p.terminating)

	slices.SortFunc(p.instanceBlockers, func(a, b Blocker) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Reason, b.Reason))
	})
	d.Blockers = append(p.instanceBlockers, p.blockers...)

	c := &p.census
	switch {
	case len(d.Steps) == 0 && c.Outdated == 0 && c.Serving == p.options.TargetSize && c.Listed == c.Serving:
		d.Progress, d.Blockers = Finished, nil
	case p.mode == Abort:
		d.Progress = Aborted
	case p.mode == Pause:
		d.Progress = Paused
	case len(d.Steps) > 0 || !d.Again.IsZero():
		d.Progress = Working
	default:
		d.Progress = Stuck
	}
	return d
}

func sortTargets(targets []Target) {
	byID := func(a, b Target) int { return cmp.Compare(a.ID, b.ID) }
	if !slices.IsSortedFunc(targets, byID) {
		slices.SortFunc(targets, byID)
	}
}
