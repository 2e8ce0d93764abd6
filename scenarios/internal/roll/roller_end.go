package roll

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
)

// count notes how far the roll is.
func (r *Roller) count(c cycle.Cluster) {
	ready := 0
	for i := range c.Instances {
		in := &c.Instances[i]
		if in.Config == c.Config && in.State == cycle.Started && r.ready(in.ID) {
			ready++
		}
	}
	if ready > r.newest {
		r.progress = r.env.Now()
	}
	r.newest = ready
}

// watchdog fails the roll where new nodes are waited for in vain. The wait for new nodes doesn't count during a
// drain.
func (r *Roller) watchdog(c cycle.Cluster) {
	switch {
	case r.cfg.JoinTimeout == 0:
		return
	case r.busy > 0 || !r.strategy.Waits(c):
		r.progress = r.env.Now()
		return
	case r.env.Now()-r.progress >= r.cfg.JoinTimeout:
		r.fail(Unjoined, "")
		return
	}
	r.overdue.Stop()
	r.overdue = r.env.Timer(r.progress+r.cfg.JoinTimeout-r.env.Now(), r.look)
}

// turn cancels the roll and goes back, or stalls it, where it was told to.
func (r *Roller) turn() {
	switch {
	case r.over || r.rolled:
	case r.cfg.RollbackAt > 0 && r.replaced >= r.cfg.RollbackAt:
		r.rollback("was cancelled")
	case r.cfg.StopAfter > 0 && r.replaced >= r.cfg.StopAfter:
		r.strategy.Failed()
		r.end(Outcome{Failed: true, Code: "Cancelled", Reason: fmt.Sprintf("the update of %s stopped after %d nodes", r.cfg.Group.Name, r.replaced)})
	}
}

// rollback makes the old template the target: what runs it stays, and what was
// done to it is taken back; what runs the new one is replaced.
func (r *Roller) rollback(why string) {
	r.rolled = true
	r.env.API.Mark("rollback", fmt.Sprintf("the update of %s %s; its nodes go back to %s", r.cfg.Group.Name, why, name(r.cfg.From)))
	r.target = r.cfg.From
	if !r.versioned {
		r.target.LaunchVersion = r.cfg.To.LaunchVersion + 1
	}
	r.cfg.Group.Template = r.target
	r.failures, r.newest, r.progress = nil, 0, r.env.Now()
	for _, i := range r.cfg.Group.Instances() {
		if r.old(i) || i.State == cloud.ShuttingDown {
			continue
		}
		m := r.join(i)
		if m.skipped {
			m.skipped = false
			r.skips--
		}
		if m.work != nil {
			if m.work.drained {
				continue
			}
			r.idle(i)
			r.drains.Cancel(i.Name)
		}
		if n := r.env.API.Node(i.Name); n != nil {
			r.strategy.Restore(n)
		}
	}
	r.strategy.Begin()
	r.look()
}

// name returns the readable name of a template.
func name(t cloud.Template) string {
	switch {
	case t.Release != "":
		return t.Release
	case t.Image != "":
		return t.Image
	}
	return t.Version
}

// fail ends the roll, or turns it back.
func (r *Roller) fail(f Failure, node string) {
	if r.over {
		return
	}
	r.strategy.Failed()
	if r.cfg.Rollback && !r.rolled {
		r.rollback("has failed (" + string(f) + ")")
		return
	}
	r.end(Outcome{Failed: true, Code: string(f), Reason: r.strategy.Says(f, node)})
}

// end is the roll's last word. What it has begun with the provider stays.
func (r *Roller) end(o Outcome) {
	r.over = true
	r.overdue.Stop()
	r.drains.CancelAll()
	if o.Failed {
		r.env.API.Mark("failed", o.Code+": "+o.Reason)
	}
	if r.Ended != nil {
		r.Ended(o)
	}
}
