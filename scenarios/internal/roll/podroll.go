package roll

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
	"github.com/nodesim/nodesim/scenarios/inplace/roller"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// PodConfig describes a roll of pods in place: their containers are changed where they run, and no pod is replaced.
type PodConfig struct {
	// Name is the workload's. Its pods are those of Namespace with the labels of
	// Selector.
	Name, Namespace string
	Selector        kube.Pairs
	// Replicas is the wanted number of pods.
	Replicas func() int
	// Redefine changes the template that new pods are made from, and no pod that
	// is there.
	Redefine func(change func(*kube.ContainerSpec)) error
	// Container is the one that is changed, to run Image or, where that is "", to
	// ask for what Requests say: millicores and bytes, 0 as before.
	Container, Image string
	Requests         kube.Resources
	// At is when the roll begins; a negative one waits for [PodRoller.Begin].
	At time.Duration
	// MaxUnavailable bounds the number of pods that aren't ready at a time, those included that are being changed; at
	// least 1.
	MaxUnavailable int
	// Deadline bounds the time of one pod, and the time that pods that are created again may keep the roll waiting; 0 is
	// for ever.
	Deadline time.Duration
	// Rollback takes all pods back where the roll fails.
	Rollback bool
}

// PodRoller rolls the pods of one workload. The template of the workload goes
// first, so that a pod that is made meanwhile is born as it shall be; then go the
// pods. What is to be done says the planner of scenarios/inplace/roller, by the
// pods alone; the PodRoller looks when something has changed, a reaction time
// later, and writes.
type PodRoller struct {
	env    *component.Env
	cfg    PodConfig
	chance model.Stream
	roll   roller.Roll
	keys   podupdate.Keys
	// Ended is called once, from the loop, when the roll is over.
	Ended func(Outcome)

	begun, over, queued bool
	halted              bool // a pod has failed: no other is changed
	from                []kube.ContainerSpec
	failure             Outcome // of the first pod that has failed

	podSet    podSet
	announced map[roller.Restart]bool
	variants  map[variant]*kube.Template
	progress  time.Duration // when something was done or a pod became ready, the last time
	overdue   *loop.Timer
}

// NewPodRoller prepares the roll of a workload's pods, to begin at its time.
func NewPodRoller(env *component.Env, cfg PodConfig) *PodRoller {
	cfg.MaxUnavailable = max(cfg.MaxUnavailable, 1)
	r := &PodRoller{
		env: env, cfg: cfg, chance: env.Stream("roller", "pods", cfg.Namespace, cfg.Name), keys: podupdate.DefaultKeys(),
		podSet: podSet{members: map[*kube.Pod]*podMember{}}, announced: map[roller.Restart]bool{}, variants: map[variant]*kube.Template{},
	}
	r.roll = roller.Roll{MaxUnavailable: cfg.MaxUnavailable, Deadline: cfg.Deadline, OnFailure: roller.Stop, Keys: r.keys}
	if cfg.Rollback {
		r.roll.OnFailure = roller.RollbackAll
	}
	if cfg.Image != "" {
		r.roll.Images = map[string]string{cfg.Container: cfg.Image}
	} else {
		r.roll.Resources = podupdate.Resources{cfg.Container: {Requests: requests(cfg.Requests)}}
	}
	env.API.WatchPods(r.podChanged)
	if cfg.At >= 0 {
		env.At(cfg.At, r.Begin)
	}
	return r
}

// Begin begins the roll. It is called from the loop; a second time it does
// nothing.
func (r *PodRoller) Begin() {
	if r.begun {
		return
	}
	r.begun, r.progress = true, r.env.Now()
	err := r.cfg.Redefine(func(c *kube.ContainerSpec) {
		r.from = append(r.from, *c)
		r.put(c)
	})
	if err != nil {
		r.env.Fail(err)
		return
	}
	for _, p := range r.env.API.Pods() {
		if r.mine(p) {
			r.podSet.update(r, p)
		}
	}
	r.look()
}

func (r *PodRoller) mine(p *kube.Pod) bool {
	return p.Namespace == r.cfg.Namespace && p.Labels.Holds(r.cfg.Selector)
}

// put makes a container as it shall be.
func (r *PodRoller) put(c *kube.ContainerSpec) {
	switch {
	case c.Name != r.cfg.Container:
	case r.cfg.Image != "":
		c.Image = r.cfg.Image
	default:
		if r.cfg.Requests.CPU != 0 {
			c.CPU = r.cfg.Requests.CPU
		}
		if r.cfg.Requests.Memory != 0 {
			c.Memory = r.cfg.Requests.Memory
		}
	}
}

// podChanged follows the pods of the workload.
func (r *PodRoller) podChanged(c kube.Change, old, p *kube.Pod) {
	if !r.begun || !r.mine(p) {
		return
	}
	if c != kube.Added && !old.Ready() && p.Ready() {
		r.progress = r.env.Now()
	}
	if c == kube.Deleted {
		r.podSet.drop(p)
	} else {
		r.podSet.update(r, p)
	}
	r.look()
}

// look plans soon.
func (r *PodRoller) look() {
	if !r.begun || r.queued || r.over && len(r.podSet.restarted) == 0 {
		return
	}
	r.queued = true
	r.env.After(r.env.Draw(&r.chance, r.env.Timings.ControllerReact), func() {
		r.queued = false
		r.step()
	})
}

// step plans and executes. A roll that is over only reports restarts.
func (r *PodRoller) step() {
	if r.over && len(r.podSet.restarted) == 0 {
		return
	}
	members, pods, d, err := r.plan(r.halted && r.cfg.Rollback)
	if err == nil && !r.halted && slices.ContainsFunc(d.Actions, func(a roller.Action) bool { return a.Kind == roller.TakeBack }) {
		// The pod that has failed takes others back with it.
		members, pods, d, err = r.plan(true)
	}
	if err != nil {
		r.env.Fail(fmt.Errorf("plan the roll of %s: %w", r.cfg.Name, err))
		return
	}
	for _, a := range d.Actions {
		i := slices.IndexFunc(members, func(m *podMember) bool { return m.pod.UID == string(a.UID) })
		if a.Kind == roller.Report {
			r.env.API.Mark("unexpected restart", fmt.Sprintf("pod %s/%s: container %s was restarted since its update", a.Namespace, a.Pod, a.Container))
		} else if !r.over {
			r.execute(a, members[i], &pods[i])
		}
	}
	maps.Copy(r.announced, d.State.Reported)
	r.podSet.acknowledge()
	if !r.over {
		r.finishOrWait(d, len(members))
	}
}

// plan plans with the pods that a plan has to see; back says that those that are
// done are to be taken back.
func (r *PodRoller) plan(back bool) ([]*podMember, []corev1.Pod, roller.Decision, error) {
	members, left := r.podSet.planned(r.cfg.MaxUnavailable, back)
	pods := make([]corev1.Pod, len(members))
	for i, m := range members {
		if err := m.object(&pods[i]); err != nil {
			return nil, nil, roller.Decision{}, err
		}
	}
	roll := r.roll
	roll.Replicas = max(0, r.cfg.Replicas()-left)
	d, err := roller.Plan(roll, pods, roller.State{Reported: r.announced}, r.env.API.Now().Time())
	return members, pods, d, err
}

// finishOrWait ends the roll where it is at an end, or waits.
func (r *PodRoller) finishOrWait(d roller.Decision, planned int) {
	switch {
	case planned == 0 && r.podSet.active >= r.cfg.Replicas(), d.Standing == roller.Finished:
		r.end(Outcome{})
	case d.Standing == roller.Stopped:
		r.end(r.failure)
	case d.Standing == roller.RolledBack:
		r.end(Outcome{Failed: true, Code: "RolledBack", Reason: fmt.Sprintf("the pods of %s have %s again", r.cfg.Name, r.before())})
	default:
		r.watchdog(d)
	}
}

// watchdog fails the roll where the wait for pods that no update touches takes too long. A pod that is being changed
// has a deadline of its own.
func (r *PodRoller) watchdog(d roller.Decision) {
	switch {
	case r.cfg.Deadline == 0:
		return
	case d.Standing != roller.Stuck:
		r.progress = r.env.Now()
		return
	case r.env.Now()-r.progress >= r.cfg.Deadline:
		reason := "its pods aren't ready"
		if len(d.Blockers) > 0 {
			reason = d.Blockers[0].Reason
			if pod := d.Blockers[0].Pod; pod != "" {
				reason = "pod " + pod + ": " + reason
			}
		}
		r.end(Outcome{Failed: true, Code: podupdate.ReasonDeadlineExceeded, Reason: fmt.Sprintf("nothing has happened to %s for %s: %s", r.cfg.Name, r.cfg.Deadline, reason)})
		return
	}
	r.overdue.Stop()
	r.overdue = r.env.Timer(r.progress+r.cfg.Deadline-r.env.Now(), r.look)
}

// end is the roll's last word.
func (r *PodRoller) end(o Outcome) {
	r.over = true
	r.overdue.Stop()
	if o.Failed {
		r.env.API.Mark("failed", o.Code+": "+o.Reason)
	}
	if r.Ended != nil {
		r.Ended(o)
	}
}
