package roll

import (
	"errors"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/actors"
	"github.com/nodesim/nodesim/scenarios/internal/api"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/model"
)

// Roller rolls one group. It looks at the group when something has changed, a
// poll of its provider later, plans and performs.
type Roller struct {
	env      *actors.Env
	cfg      Config
	strategy Strategy
	chance   model.Stream
	// Ended is called once, when the roll is over.
	Ended func(Outcome)

	target   cloud.Template
	begun    bool
	over     bool
	queued   bool
	work     map[string]*work         // by instance: what is being drained
	served   map[string]bool          // by instance: its node was Ready once
	since    map[string]time.Duration // by instance: when its readiness last changed
	drains   map[string]*drain        // by node
	failures []cycle.InstanceID
	replaced int           // old instances that were removed
	rolled   bool          // it was cancelled, and goes back
	progress time.Duration // when the last new node became Ready
	newest   int           // instances of the target that were Ready at the last look
}

// work is what the roller does to an instance.
type work struct {
	since   time.Duration
	drained bool
}

// New prepares the roll of a group, to begin at its time. build makes the
// strategy.
func New(env *actors.Env, cfg Config, build func(Base) Strategy) *Roller {
	r := &Roller{
		env: env, cfg: cfg, chance: env.Stream("roller", cfg.Group.Name), target: cfg.To,
		work: map[string]*work{}, served: map[string]bool{}, since: map[string]time.Duration{}, drains: map[string]*drain{},
	}
	r.strategy = build(Base{r})
	env.API.WatchPods(func(c api.Change, _, p *api.Pod) {
		if c == api.Deleted || c == api.Modified && p.Terminal() {
			if d := r.drains[p.NodeName]; d != nil {
				d.soon(0)
			}
		}
	})
	env.API.WatchNodes(func(c api.Change, old, n *api.Node) {
		i := env.Cloud.ByNode(n.Name)
		if i == nil || i.Group != cfg.Group {
			return
		}
		was := old != nil && old.Ready()
		if c != api.Deleted && n.Ready() {
			r.served[i.ID] = true
		}
		if was != n.Ready() || c != api.Modified {
			r.since[i.ID] = env.Now()
			r.look()
		}
	})
	env.Cloud.Watch(func(_ cloud.Change, i *cloud.Instance) {
		if i.Group == cfg.Group {
			r.look()
		}
	})
	env.At(cfg.At, r.begin)
	return r
}

func (r *Roller) begin() {
	r.begun, r.progress = true, r.env.Now()
	r.cfg.Group.Template = r.target
	r.strategy.Begin()
	r.look()
}

// look plans soon.
func (r *Roller) look() {
	if !r.begun || r.over || r.queued {
		return
	}
	r.queued = true
	r.env.After(r.env.Draw(&r.chance, r.env.Timings.RollerPoll), func() {
		r.queued = false
		if !r.over {
			r.step()
		}
	})
}

// step describes, plans and performs.
func (r *Roller) step() {
	c := r.describe()
	r.count(c)
	o, done := r.strategy.Options(c)
	o.Now = stamp(r.env.Now())
	o.From = configOf(r.cfg.From)
	o.Ready = r.ready
	o.Failures = r.failures
	d, err := cycle.Plan(c, o)
	if err != nil {
		var bounds *cycle.BoundsError
		if errors.As(err, &bounds) {
			r.fail("InvalidParameterException", err.Error())
			return
		}
		r.env.Fail(fmt.Errorf("plan the roll of %s: %w", c.Name, err))
		return
	}
	r.failures = d.Failures
	for _, s := range d.Steps {
		r.perform(s)
	}
	switch {
	case r.over:
	case d.Progress == cycle.Finished && done:
		r.end(Outcome{})
	case d.Progress == cycle.Finished:
		r.look()
	default:
		r.watchdog(c)
	}
	if !d.Again.IsZero() && !r.over {
		r.env.At(d.Again.Sub(stamp(0))+time.Millisecond, r.look)
	}
}

// count notes how far the roll is.
func (r *Roller) count(c cycle.Cluster) {
	ready := 0
	for _, i := range c.Instances {
		if i.Config == c.Config && i.State == cycle.Started && r.ready(i.ID) {
			ready++
		}
	}
	if ready > r.newest {
		r.progress = r.env.Now()
	}
	r.newest = ready
}

// watchdog fails the roll where new nodes are waited for in vain.
func (r *Roller) watchdog(c cycle.Cluster) {
	waiting := false
	for _, i := range c.Instances {
		waiting = waiting || i.State == cycle.Starting
	}
	if !waiting || r.cfg.JoinTimeout == 0 || len(r.work) > 0 {
		r.progress = max(r.progress, r.lastWork())
		return
	}
	if r.env.Now()-r.progress >= r.cfg.JoinTimeout {
		r.fail("NodeCreationFailure", "Couldn't proceed with upgrade process as new nodes are not joining node group "+r.cfg.Group.Name)
		return
	}
	r.env.At(r.progress+r.cfg.JoinTimeout, r.look)
}

// lastWork is now where nodes are being drained: nobody waits for others then.
func (r *Roller) lastWork() time.Duration {
	if len(r.work) > 0 {
		return r.env.Now()
	}
	return r.progress
}

func (r *Roller) perform(s cycle.Step) {
	switch s.Kind {
	case cycle.Start:
		r.progress = r.env.Now()
		r.strategy.Start(s.Count)
	case cycle.Drain:
		for _, t := range s.Targets {
			r.drain(string(t.ID))
		}
	case cycle.Terminate:
		for _, t := range s.Targets {
			r.remove(string(t.ID))
		}
	}
}

func (r *Roller) drain(id string) {
	i := r.env.Cloud.Instance(id)
	if i == nil {
		return
	}
	n := r.env.API.Node(i.Name)
	w := &work{since: r.env.Now()}
	r.work[id] = w
	if n == nil {
		w.drained = true
		r.look()
		return
	}
	r.strategy.Drain(i, n, func(err error) {
		var stuck *Stuck
		if errors.As(err, &stuck) {
			r.fail("PodEvictionFailure", "Reached max retries while trying to evict pods from nodes in node group "+r.cfg.Group.Name)
			return
		}
		r.env.After(r.cfg.Settle, func() {
			w.drained = true
			r.look()
		})
	})
}

func (r *Roller) remove(id string) {
	if i := r.env.Cloud.Instance(id); i != nil {
		delete(r.work, id)
		if configOf(i.Template) != configOf(r.target) {
			r.replaced++
		}
		r.strategy.Remove(i, r.env.API.Node(i.Name))
		r.look()
		r.turn()
	}
}

// turn cancels the roll and goes back, or stalls it, where it was told to.
func (r *Roller) turn() {
	switch {
	case r.cfg.RollbackAt > 0 && r.replaced >= r.cfg.RollbackAt && !r.rolled:
		r.rollback("cancelled")
	case r.cfg.StopAfter > 0 && r.replaced >= r.cfg.StopAfter:
		r.end(Outcome{Failed: true, Code: "Cancelled", Reason: fmt.Sprintf("the update of %s stopped after %d nodes", r.cfg.Group.Name, r.replaced)})
	}
}

// rollback makes the old template the target.
func (r *Roller) rollback(why string) {
	r.rolled = true
	r.env.API.Mark("rollback", fmt.Sprintf("the update of %s was %s; its nodes go back to %s", r.cfg.Group.Name, why, r.cfg.From.Image))
	r.target = r.cfg.From
	r.target.LaunchVersion = r.cfg.To.LaunchVersion + 1
	r.cfg.Group.Template = r.target
	r.failures, r.newest, r.progress = nil, 0, r.env.Now()
	r.strategy.Begin()
	r.look()
}

// fail ends the roll, or turns it back.
func (r *Roller) fail(code, reason string) {
	if r.over {
		return
	}
	r.strategy.Failed(code, reason)
	if r.cfg.Rollback && !r.rolled {
		r.rollback("a failure: " + code)
		return
	}
	r.end(Outcome{Failed: true, Code: code, Reason: reason})
}

// end is the roll's last word. What it has begun with the provider stays.
func (r *Roller) end(o Outcome) {
	r.over = true
	for _, d := range r.drains {
		d.over = true // no more evictions
	}
	if o.Failed {
		r.env.API.Mark("failed", o.Code+": "+o.Reason)
	}
	if r.Ended != nil {
		r.Ended(o)
	}
}
