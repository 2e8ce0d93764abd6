package cycle

import "time"

// assessment is one description, sorted by what each instance is good for.
type assessment struct {
	cluster *Cluster
	options *Options
	mode    Mode // how far this plan may go
	census  Census
	alive   int // wanted ones that serve or may come to it

	old  []int32 // Started and outdated (none under Abort), as listed
	idle int     // how many of old don't serve
	// Wanted ones, looked at only where there are too many: Started, as listed.
	current []int32

	start                                  Step
	starting, draining, terminating, drain []Target
	terminate                              []Target
	remove                                 []Target // to be terminated though no drain went before
	failures                               []InstanceID
	again                                  time.Time
	instanceBlockers, blockers             []Blocker
}

// classify sorts the instances.
func (p *assessment) classify() error {
	repeated, err := repeats(p.cluster)
	if err != nil {
		return err
	}
	p.failures = append(p.failures, p.options.Failures...)
	p.census.Floor, p.census.Ceiling = p.options.bounds()
	for i := range p.cluster.Instances {
		instance := &p.cluster.Instances[i]
		if instance.State == Terminated || repeated != nil && repeated[i] {
			continue
		}
		p.census.Listed++
		outdated := instance.Config != p.cluster.Config
		if outdated {
			p.census.Outdated++
		}
		p.place(int32(i), instance, outdated)
	}
	p.census.Wanted = p.options.TargetSize - p.alive
	return nil
}

// place finds out what one instance is good for.
func (p *assessment) place(i int32, instance *Instance, outdated bool) {
	c := &p.census
	unwanted := outdated && p.options.Mode != Abort
	switch instance.State {
	case Starting:
		c.Starting++
		switch {
		case unwanted && p.options.Mode != Pause:
			p.remove = append(p.remove, Target{instance.ID, ReasonNeverServed})
		case p.overdue(instance.ID, instance.CreatedAt, p.options.StartTimeout):
			p.fail(instance, outdated, ReasonStartTimeout)
		default:
			p.starting = append(p.starting, Target{instance.ID, ReasonStarting})
			p.live(unwanted)
		}
	case Started:
		ready := p.options.Ready == nil || p.options.Ready(instance.ID)
		switch {
		case ready:
			c.Serving++
		case !unwanted && p.overdue(instance.ID, later(instance.CreatedAt, instance.UpdatedAt), p.options.StartTimeout):
			p.fail(instance, outdated, ReasonReadyTimeout)
			return
		default:
			c.NotReady++
			if !unwanted {
				p.blockInstance(ReasonNotReady, instance.ID, "")
			}
		}
		p.live(unwanted)
		if !unwanted {
			p.current = append(p.current, i)
			return
		}
		p.old = append(p.old, i)
		if !ready {
			p.idle++
		}
	case Draining:
		c.Draining++
		if !instance.UpdatedAt.IsZero() &&
			p.overdue(instance.ID, later(instance.CreatedAt, instance.UpdatedAt), p.options.DrainTimeout) {
			p.terminate = append(p.terminate, Target{instance.ID, ReasonDrainTimeout})
		} else {
			p.draining = append(p.draining, Target{instance.ID, ReasonDraining})
		}
	case Drained:
		c.Drained++
		p.terminate = append(p.terminate, Target{instance.ID, ReasonDrained})
	case Terminating:
		c.Terminating++
		p.terminating = append(p.terminating, Target{instance.ID, ReasonTerminating})
	case Unhealthy:
		p.fail(instance, outdated, ReasonUnhealthy)
	default:
		c.Unknown++
		p.blockInstance(ReasonUnknownState, instance.ID, "state is "+string(instance.State))
	}
}

// live counts an instance that needs no replacement.
func (p *assessment) live(unwanted bool) {
	if !unwanted {
		p.alive++
	}
}

// fail notes an instance that won't serve. What failed in an older config says nothing about this one.
func (p *assessment) fail(instance *Instance, outdated bool, reason Reason) {
	p.census.Failed++
	p.remove = append(p.remove, Target{instance.ID, reason})
	if !outdated {
		p.failures = append(p.failures, instance.ID)
	}
}

// overdue says whether since is limit or more ago, and notes when it will be.
func (p *assessment) overdue(id InstanceID, since time.Time, limit time.Duration) bool {
	if limit <= 0 || since.IsZero() {
		return false
	}
	if p.options.Now.Sub(since) >= limit {
		return true
	}
	if since.After(p.options.Now) {
		p.blockInstance(ReasonClockSkew, id, "stamped "+since.Sub(p.options.Now).String()+" after the present")
	}
	if due := since.Add(limit); p.again.IsZero() || due.Before(p.again) {
		p.again = due
	}
	return false
}

func (p *assessment) block(reason Reason, count int, detail string) {
	p.blockers = append(p.blockers, Blocker{Reason: reason, Count: count, Detail: detail})
}

func (p *assessment) blockInstance(reason Reason, id InstanceID, detail string) {
	p.instanceBlockers = append(p.instanceBlockers, Blocker{Reason: reason, ID: id, Count: 1, Detail: detail})
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
