package roll

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Roller rolls one group. It looks at the group when something has changed, a poll of its provider later, plans and
// executes.
type Roller struct {
	env      *component.Env
	cfg      Config
	strategy Strategy
	chance   model.Stream
	drains   *Drainer
	nodes    kube.Watch // of the members'
	// Ended is called once, from the loop, when the roll is over.
	Ended func(Outcome)

	target    cloud.Template
	versioned bool // From and To differ in the launch template's version alone
	begun     bool
	over      bool
	rolled    bool // it was cancelled, and goes back
	queued    bool // a look is in the loop

	members  []*member // by id, in their order
	byID     map[string]*member
	asking   int // the place in members at which the next question is likely
	busy     int // members with work
	skips    int // members that the roll skips
	failures []cycle.InstanceID
	// asked counts the launches of a detached group that were ordered and that
	// the provider hasn't begun; nil is none.
	asked func() int

	replaced int           // old instances that were removed
	progress time.Duration // when the last new node became Ready, or one was asked for
	newest   int           // instances of the target that were Ready at the last look
	overdue  *loop.Timer   // when the wait for new nodes has been too long

	configs map[cloud.Template]cycle.ConfigID
	list    []cycle.Instance // of the last description
}

// New prepares the roll of a group, to begin at its time. build makes the
// strategy.
func New(env *component.Env, cfg Config, build func(Base) Strategy) *Roller {
	r := &Roller{
		env: env, cfg: cfg, chance: env.Stream("roller", cfg.Group.Name), drains: NewDrainer(env), target: cfg.To,
		byID: map[string]*member{}, configs: map[cloud.Template]cycle.ConfigID{},
	}
	same := cfg.From
	same.LaunchVersion = cfg.To.LaunchVersion
	r.versioned = same == cfg.To
	for _, i := range cfg.Group.Instances() {
		r.join(i)
	}
	r.strategy = build(Base{r})
	r.nodes = env.API.WatchNodesNamed(r.nodeChanged)
	for _, m := range r.members {
		r.nodes.Follow(m.instance.Name)
	}
	env.Cloud.WatchGroup(cfg.Group, r.instanceChanged)
	if cfg.At >= 0 {
		env.At(cfg.At, r.Begin)
	}
	return r
}

// Begin begins the roll, or, where machines exist already that were launched on its way back, continues on the way
// back. It is called from the loop; a second time it does nothing.
func (r *Roller) Begin() {
	if r.begun {
		return
	}
	r.begun, r.progress = true, r.env.Now()
	r.cfg.Group.Template = r.target
	for _, i := range r.cfg.Group.Instances() {
		if m := r.join(i); r.env.API.Node(i.Name) != nil && i.Template != r.target {
			m.served = true
		}
	}
	if r.cfg.RollbackAt > 0 && slices.ContainsFunc(r.cfg.Group.Instances(), r.goesBack) {
		r.rollback("was cancelled")
		return
	}
	r.strategy.Begin()
	r.look()
}

// goesBack reports whether a machine was launched to run the old template again.
func (r *Roller) goesBack(i *cloud.Instance) bool {
	return !r.versioned && i.Template.LaunchVersion > r.cfg.To.LaunchVersion
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

// lookAt plans at a moment at the latest.
func (r *Roller) lookAt(at time.Duration) { r.env.At(at, r.look) }

// step describes, plans and executes.
func (r *Roller) step() {
	c := r.describe()
	r.count(c)
	o, done := r.strategy.Options(c)
	o.Now = stamp(r.env.Now())
	o.From = r.config(r.cfg.From)
	o.Ready = r.ready
	o.Failures = r.failures
	d, err := cycle.Plan(c, o)
	if err != nil {
		var bounds *cycle.BoundsError
		if errors.As(err, &bounds) {
			r.strategy.Failed()
			r.end(Outcome{Failed: true, Code: "InvalidParameterException", Reason: err.Error()})
			return
		}
		r.env.Fail(fmt.Errorf("plan the roll of %s: %w", c.Name, err))
		return
	}
	r.failures = d.Failures
	for _, s := range d.Steps {
		if r.over {
			return
		}
		r.execute(s)
	}
	switch {
	case r.over:
	case d.Progress != cycle.Finished:
		r.watchdog(c)
	case done && r.rolled:
		r.end(Outcome{Failed: true, Code: "RolledBack", Reason: fmt.Sprintf("the nodes of %s run %s again", c.Name, r.target.Release)})
	case done:
		r.end(Outcome{})
	default:
		r.look()
	}
}

func (r *Roller) execute(s cycle.Step) {
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
