package scenarios

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// LiveConfig configures a LiveSimulation.
type LiveConfig struct {
	// APIServer is where everything is written.
	APIServer APIServer
	// Speed divides the scenario's durations; 0 is 1.
	Speed float64
	// Now is the wall time.
	Now func() time.Time
	// Wall, where it is given, returns the wall time of a moment of the scenario after Begin, for a pace that isn't
	// even; nil is Speed alone.
	Wall func(at time.Duration) time.Time
	// ExternalRoller leaves the rolls to the caller, which plans from [LiveSimulation.Group], acts through
	// [LiveSimulation.Launch] and its like, and reports the outcome to [LiveSimulation.FinishRoll]. A roll in place is always
	// the caller's.
	ExternalRoller bool
	// FirstMachine is the number of the first machine. Processes that run the groups of one scenario have numbers that are far from each
	// other's: names and addresses of machines follow from them.
	FirstMachine int
	// Hold keeps the simulation from ending before its time limit, until [LiveSimulation.Release].
	Hold bool
}

// A LiveSimulation is the simulation of a live run on a real API server: its kubelets, provider, cloud controllers,
// interruption handlers, autoscaler and rollers, acting on a mirror of the server's objects. What they write goes to
// the [APIServer], and what the server says comes in through the methods named Seen and Given. Workloads, scheduling,
// budgets, node lifecycle and garbage are the real control plane's.
//
// The order is: File.SimulateLive; Adopt, where machines are there already; where [LiveSimulation.Unplaced] isn't empty, Seen until it
// is; Seed; Seen and Given until Unsettled is empty;
// Begin; then Advance as time passes, with Seen and Given in between, until Ended. Nothing happens in the scenario
// before Begin: the nodes of 0s are Ready at once, and so are pods that are bound to them.
//
// A LiveSimulation must be used by one goroutine. It reads no clock but LiveConfig.Now.
type LiveSimulation struct {
	sim       *Simulation
	cfg       LiveConfig
	apiServer APIServer
	clock     convert.Clock
	begun     bool
	before    time.Duration // the scenario's time when it was adopted
	rolled    bool          // when adopted, the rolls had ended

	templates convert.Templates
	nodes     map[string]*seenNode
	versions  versions // of pods
	agents    []controllers.Workload
	drains    *roll.Drainer
	given     map[*kube.Pod]bool // whose kubelet knows of them
	lost      error
	disks     *disks // nil where the scenario has no volumes
	seats     seats
	polls     model.Stream // of a roller from outside
}

// seenNode is the server's state of a node of ours.
type seenNode struct {
	uid     types.UID
	ready   bool
	closed  bool              // the taint of a node that isn't Ready is still on it, which keeps pods off
	labels  map[string]string // that its kubelet has registered with
	notes   map[string]string
	deleted types.UID // that was deleted by an actor
}

// SimulateLive prepares a LiveSimulation.
func (f *File) SimulateLive(c LiveConfig) (*LiveSimulation, error) {
	whole, err := f.Split()
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", f.Metadata.Name, err)
	}
	f = whole
	if c.Now == nil {
		return nil, fmt.Errorf("run %s live: no Now: want a clock, such as time.Now", f.Metadata.Name)
	}
	if a := f.Autoscaler; a != nil && a.Kind == spec.AutoscalerNodeManager {
		return nil, fmt.Errorf("run %s live: its autoscaler is nodemanager, which schedules pods itself, and a live run leaves that to the API server's scheduler: want the kind cluster-autoscaler, or a simulated cluster that takes writes", f.Metadata.Name)
	}
	p := &LiveSimulation{cfg: c, apiServer: c.APIServer, nodes: map[string]*seenNode{}, versions: newVersions(), given: map[*kube.Pod]bool{}}
	start := c.Now()
	p.clock = convert.Clock{Scenario: kube.InstantOf(start), Wall: start, Speed: c.Speed, Foreign: convert.NewForeignTimes()}
	p.sim, err = f.newSimulation(func(timeline.Event) error { return nil }, remote{p}, start)
	if err != nil {
		return nil, err
	}
	p.sim.live = p
	p.templates.Traits = p.traitsOf
	p.templates.Resizable = f.Roll != nil && f.Roll.Strategy == "inplace-resize"
	s := p.sim
	p.polls = s.env.Stream("roller", "outside")
	s.prepare()
	s.env.Cloud.Skip(c.FirstMachine)
	if c.Hold {
		s.pending++
	}
	for i := range f.Groups {
		s.addGroup(&f.Groups[i])
	}
	s.env.Cloud.Watch(func(change cloud.Change, i *cloud.Instance) {
		if change == cloud.Ended && i.State == cloud.Terminated {
			p.apiServer.ReleaseNode(i.Name)
		}
	})
	if p.disks = newDisks(p); p.disks != nil {
		s.kubelet.Volume = p.disks.of
	}
	s.kubelets = kubelet.New(s.env, s.kubelet)
	s.startCloudControllers()
	s.startAutoscaler()
	s.watchFinalizers()
	s.watchClaims()
	if err := s.startProvider(); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", f.Metadata.Name, err)
	}
	p.registerWorkloads()
	p.seats = seatsOf(f)
	p.drains = roll.NewDrainer(s.env)
	return p, nil
}

// Seed registers the nodes of 0s: as many of each group as weren't adopted.
func (p *LiveSimulation) Seed() {
	p.wait()
	for i := range p.sim.file.Groups {
		g := &p.sim.file.Groups[i]
		c := p.sim.env.Cloud.Group(g.Name)
		if p.before > 0 {
			// Who rolls, or keeps the group at its size, asks for what is missing.
			c.Desired = max(c.Desired, g.Nodes)
			continue
		}
		for k := range g.Members {
			if len(c.Instances()) < len(g.Members) {
				p.sim.seedMember(c, g, &g.Members[k], time.Hour)
			}
		}
		for k := len(c.Instances()); k < g.Nodes; k++ {
			p.sim.kubelets.SeedNow(p.sim.env.Cloud.Seed(c, g.Zones[k%len(g.Zones)]), time.Hour)
		}
	}
	p.sim.seedProvider()
}

// wait has the moments of objects be those of the wall until the scenario begins. Writes in between have the wall's
// time then, which doesn't change when the scenario continues at a speed of its own.
func (p *LiveSimulation) wait() {
	if p.begun {
		return
	}
	store := p.sim.env.API
	store.Rebase(kube.InstantOf(p.cfg.Now()))
	p.clock.Scenario = store.Now()
	p.clock.Wall = p.clock.Scenario.Time()
}

// Begin starts the scenario at 0s, or, for one that was adopted, at the moment at which it resumes.
func (p *LiveSimulation) Begin() error {
	if p.begun {
		return nil
	}
	p.wait()
	s := p.sim
	p.begun = true
	if begin := s.env.Now(); p.cfg.Wall != nil {
		p.clock.Paced = func(since time.Duration) time.Time { return p.cfg.Wall(begin + since) }
		p.clock.Latest = func() (kube.Instant, time.Time) { return s.env.API.Now(), p.cfg.Now() }
	}
	s.kubelets.ResyncPods()
	p.disks.begin()
	external := p.cfg.ExternalRoller || s.file.RolledInPlace() != nil
	if !external && !p.rolled {
		if err := s.planRolls(); err != nil {
			return err
		}
	} else if external && !p.rolled && s.file.Roll != nil {
		s.running += max(1, len(s.file.Roll.Groups)) // pods have no group
	}
	s.planFaultsFrom(p.before)
	for _, g := range s.env.Cloud.Groups() {
		s.env.Cloud.SetDesired(g, g.Desired)
	}
	s.settle()
	return nil
}

// FinishRoll ends one roll that the caller of an ExternalRoller LiveSimulation has executed, of one group or of a workload's pods;
// code and reason are empty for one that is complete. The scenario ends when all of them have.
func (p *LiveSimulation) FinishRoll(code, reason string) {
	if p.sim.running > 0 {
		p.sim.rollEnded(roll.Outcome{Failed: code != "", Code: code, Reason: reason})
	}
}

// Now is the scenario's time.
func (p *LiveSimulation) Now() time.Duration { return p.sim.env.Now() }

// Advance does what is due up to a moment of the scenario. Before Begin it does
// nothing.
func (p *LiveSimulation) Advance(to time.Duration) error {
	s := p.sim
	if !p.begun || s.ended {
		return p.lost
	}
	if err := s.env.Run(min(to, s.end())); err != nil {
		s.ended, p.lost = true, fmt.Errorf("run %s live: %w", s.file.Metadata.Name, err)
		return p.lost
	}
	if s.env.Now() < s.end() && !s.env.Stopped() {
		return nil
	}
	if s.running > 0 || len(s.waiting) > 0 {
		p.apiServer.Mark("time limit", s.unfinished())
	}
	s.ended = true
	return nil
}

// Next is the moment at which something is due, and whether there is one.
func (p *LiveSimulation) Next() (at time.Duration, is bool) {
	if !p.begun || p.sim.ended {
		return 0, false
	}
	at, is = p.sim.env.Next()
	if end := p.sim.end(); !is || at > end {
		return end, true
	}
	return at, is
}

// Ended reports whether the scenario is over: every roll has ended, every fault
// is past and has settled, or the time limit has come.
func (p *LiveSimulation) Ended() bool { return p.sim.ended }

// Idle reports whether nothing is to come but the end.
func (p *LiveSimulation) Idle() bool {
	held := 0
	if p.cfg.Hold {
		held = 1
	}
	return p.sim.ended || p.begun && p.sim.running == 0 && len(p.sim.waiting) == 0 && p.sim.pending == held
}

// Release lets a simulation end that [LiveConfig].Hold holds.
func (p *LiveSimulation) Release() {
	if p.cfg.Hold {
		p.cfg.Hold = false
		p.sim.pending--
		p.sim.settle()
	}
}

// Outcomes say how the rolls ended that have; see [Simulation.Outcomes].
func (p *LiveSimulation) Outcomes() []string { return p.sim.Outcomes() }

// Unsettled says what is missing before the scenario can begin, a phrase each.
func (p *LiveSimulation) Unsettled() []string {
	var missing []string
	for _, n := range p.sim.env.API.Nodes() {
		if seen := p.nodes[n.Name]; p.before == 0 && (seen == nil || !seen.ready) {
			missing = append(missing, "node "+n.Name+" isn't Ready")
		} else if p.before == 0 && seen.closed {
			missing = append(missing, "node "+n.Name+" has the taint "+corev1.TaintNodeNotReady)
		}
	}
	for i := range p.sim.file.Workloads {
		w := &p.sim.file.Workloads[i]
		if p.before > 0 || w.Kind == spec.KindDaemonSet || w.Kind == spec.KindJob || w.Kind == spec.KindPod || p.comesLater(w) {
			continue
		}
		if have := p.serving(w); have < w.Replicas {
			missing = append(missing, fmt.Sprintf("%d of %d pods of %s/%s run", have, w.Replicas, w.Namespace, w.Name))
		}
	}
	for i := range p.agents {
		a := &p.agents[i]
		have := p.countServing(func(pod *kube.Pod) bool {
			return pod.Namespace == a.Namespace && pod.Labels.Holds(a.Template.Labels) && p.nodes[pod.NodeName] != nil
		})
		if want := len(p.sim.env.API.Nodes()); p.before == 0 && have < want {
			missing = append(missing, fmt.Sprintf("%d of %d pods of %s/%s run", have, want, a.Namespace, a.Name))
		}
	}
	for _, b := range p.sim.env.API.Budgets() {
		if !slices.ContainsFunc(p.sim.file.Budgets, func(own spec.Budget) bool { return own.Namespace == b.Namespace && own.Name == b.Name }) {
			continue // somebody else's
		}
		have := p.countServing(b.Covers)
		if p.before == 0 && (b.CurrentHealthy < have || b.ObservedGeneration < b.Generation) {
			missing = append(missing, fmt.Sprintf("budget %s/%s counts %d of %d pods", b.Namespace, b.Name, b.CurrentHealthy, have))
		}
	}
	return missing
}

// serving counts the pods of a workload that are Ready.
func (p *LiveSimulation) serving(w *spec.Workload) int {
	return p.countServing(func(pod *kube.Pod) bool { return p.sim.isOf(pod, w) })
}

func (p *LiveSimulation) countServing(which func(*kube.Pod) bool) (n int) {
	for _, pod := range p.sim.env.API.Pods() {
		if which(pod) && pod.Ready() && !pod.Terminating() {
			n++
		}
	}
	return n
}

// A machine is the content of the annotation [AnnotationMachine] of its Node.
type machine struct {
	Number   int            `json:"number"`
	Group    string         `json:"group"`
	Zone     string         `json:"zone"`
	Template cloud.Template `json:"template"`
	// Ail lists its ailments when it registered: "cni" or "kubelet", as in a NeverReady.
	Ail spec.NeverReadyCause `json:"ail,omitempty"`
}

// Resumable reports whether a live run that adopts a Node that is being deleted continues its end: where Karpenter's
// finalizer alone holds it.
func (p *LiveSimulation) Resumable(in *corev1.Node) bool {
	return p.sim.file.Cluster.Provider == spec.ProviderKarpenter && roll.Holds(in.Finalizers)
}

// HasGroupOf reports whether a Node is of one of the scenario's groups, by what its kubelet has noted.
func (p *LiveSimulation) HasGroupOf(in *corev1.Node) bool {
	m, err := annotatedMachine(in)
	return err == nil && p.sim.env.Cloud.Group(m.Group) != nil
}

// Adopt takes over the machines of nodes that another process has registered, at
// a time of the scenario. rolled says that its rolls had ended. It is called
// before Seed, and fails where a node isn't one of this scenario's.
func (p *LiveSimulation) Adopt(nodes []*corev1.Node, at time.Duration, rolled bool) error {
	s := p.sim
	p.before, p.rolled = max(at, 1), rolled
	if err := s.env.Run(p.before); err != nil {
		return err
	}
	p.wait()
	for _, in := range nodes {
		m, err := annotatedMachine(in)
		if err != nil {
			return fmt.Errorf("adopt node %s: %w", in.Name, err)
		}
		g := s.env.Cloud.Group(m.Group)
		if g == nil {
			return fmt.Errorf("adopt node %s: it is of group %q, which scenario %s doesn't have: clean up and begin anew", in.Name, m.Group, s.file.Metadata.Name)
		}
		i := s.env.Cloud.Restore(g, m.Zone, m.Number, m.Template)
		if i.Name != in.Name {
			return fmt.Errorf("adopt node %s: machine %d of scenario %s is called %s: clean up, or run it with the seed it was begun with", in.Name, m.Number, s.file.Metadata.Name, i.Name)
		}
		if m.Ail != "" {
			i.Ailments = ailmentsOf(&spec.NeverReady{Cause: m.Ail})
		}
		n := &kube.Node{}
		convert.NodeOfEarlierRun(n, in, p.clock)
		s.env.API.Inbound(func() { s.env.API.SeedNode(n) })
		s.env.API.Know(&n.Meta, string(in.UID))
		p.nodes[n.Name] = &seenNode{uid: in.UID, ready: n.Ready(), labels: in.Labels, notes: in.Annotations}
		taken := in.DeepCopy()
		taken.Status.VolumesAttached = nil // the attach-detach controller's
		p.apiServer.Register(taken)
		s.kubelets.Resume(i, n)
	}
	return nil
}
