package roll_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
	"github.com/nodesim/nodesim/timeline"
)

// cluster is a whole one, control plane and kubelets, whose nodes are rolled.
type cluster struct {
	testing.TB
	*component.Env
	spec      spec
	group     *cloud.Group
	from, to  cloud.Template
	kubelets  *kubelet.Kubelets
	workloads *controllers.Workloads
	shapes    roll.Shapes
	karpenter *roll.Karpenter
	machines  *roll.Machines
	roller    *roll.Roller
	out       *roll.Outcome
	old       map[string]bool // nodes by UID that were there at 0s

	events      []event         // of Kubernetes
	claims      map[string]bool // NodeClaims by name
	marks       []string
	moves       []move // what became of nodes and pods
	steps       []func()
	most, least int // nodes; see watchSize
}

// event is a Kubernetes Event.
type event struct {
	at                                   time.Duration
	kind, name, reason, message, source_ string
}

// move is a change of an object.
type move struct {
	at   time.Duration
	what string // a short word: node-added, cordoned, ready, …
	name string
	uid  string
}

// spec is the cluster that a test wants.
type spec struct {
	provider model.Provider
	nodes    int
	zones    int
	pods     int
	budget   string // minAvailable of the pods
	spot     bool
	seed     uint64
	jitter   int
	detached bool
	// gracePeriod is the terminationGracePeriod of Karpenter's NodePool.
	gracePeriod time.Duration
	roll        func(*roll.Config)
	strategy    func(*cluster) func(roll.Base) roll.Strategy
}

var start = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

func newCluster(t testing.TB, s spec) *cluster {
	t.Helper()
	if s.provider == "" {
		s.provider = model.EKS
	}
	if s.zones == 0 {
		s.zones = 1
	}
	from, to := "v1.33.5", "v1.33.7"
	version, err := model.ParseVersion(from)
	if err != nil {
		t.Fatal(err)
	}
	os := model.OSes(s.provider)[0]
	timings := model.DefaultTimings(s.provider, os).For(version)
	c := &cluster{TB: t, spec: s, old: map[string]bool{}, claims: map[string]bool{}}
	l := &loop.Loop{}
	uids := 0
	store := kube.New(kube.Config{
		Start: kube.InstantOf(start), Version: 1000, Now: l.Now, Sink: c.note, Fail: l.Fail,
		UID: func() string { uids++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", uids) },
	})
	ordinals := map[*cloud.Group]int{}
	ordinal := map[*cloud.Instance]int{}
	place := func(i *cloud.Instance) model.Place {
		if _, ok := ordinal[i]; !ok {
			ordinal[i] = ordinals[i.Group]
			ordinals[i.Group]++
		}
		n := i.Number + 10
		return model.Place{Zone: i.Zone, IP: netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}), Ordinal: ordinal[i]}
	}
	machine := map[model.Provider]string{model.GKE: "e2-standard-4", model.AKS: "Standard_D4s_v5"}[s.provider]
	if machine == "" {
		machine = "m5.large"
	}
	config := kubelet.Config{
		Timings: func(*cloud.Group) *model.Timings { return &timings }, Place: place,
		Shape: func(i *cloud.Instance) model.Shape {
			v, _ := model.ParseVersion(i.Template.Version)
			m, ok := model.FindMachine(i.Template.InstanceType)
			if !ok {
				t.Fatalf("no machine %s", i.Template.InstanceType)
			}
			capacity := model.OnDemand
			if s.spot {
				capacity = model.Spot
			}
			return model.Shape{
				Provider: s.provider, OS: os, Machine: m, Version: v, Cluster: "rig", Group: "workers", Region: "us-east-1", Account: "acme",
				Image: model.ImageOf(s.provider, os, v, m.Arch, i.Template.Release), CapacityType: capacity,
			}
		},
	}
	cl := cloud.New(cloud.Config{
		Loop: l, Seed: s.seed, Jitter: s.jitter, Timings: config.Timings,
		Identify: func(i *cloud.Instance) {
			shape := config.Node(s.seed, i)
			i.ID, i.Name, i.IP = shape.InstanceID, shape.Name, place(i).IP.String()
		},
		ShutdownGrace: func(i *cloud.Instance) time.Duration { return config.ShutdownGrace(i) },
	})
	c.Env = &component.Env{Loop: l, API: store, Cloud: cl, Seed: s.seed, Jitter: s.jitter, Timings: &timings, Version: version}
	c.shapes = func(i *cloud.Instance) model.NodeShape { return config.Node(s.seed, i) }
	c.from = cloud.Template{Image: "old", Version: from, Release: "20251112", OS: string(os), InstanceType: machine, LaunchVersion: 1}
	c.to = cloud.Template{Image: "new", Version: to, Release: "20260101", OS: string(os), InstanceType: machine, LaunchVersion: 2}
	c.group = &cloud.Group{Name: "workers", Spot: s.spot, Detached: s.detached, Max: 10 * s.nodes, FreeIPs: 100000, Template: c.from}
	for z := range s.zones {
		c.group.Zones = append(c.group.Zones, "us-east-1"+string(rune('a'+z)))
	}
	cl.AddGroup(c.group)

	c.kubelets = kubelet.New(c.Env, config)
	controllers.NewCloudNode(c.Env, controllers.CloudNodeConfig{Initialize: c.kubelets.Initialize})
	controllers.NewNodeLifecycle(c.Env)
	controllers.NewTaintEviction(c.Env)
	controllers.NewPodGC(c.Env)
	controllers.NewAttachDetach(c.Env)
	scheduler := scheduler.New(c.Env)
	c.workloads = controllers.NewWorkloads(c.Env)
	if s.provider == model.Karpenter {
		c.karpenter = roll.NewKarpenter(c.Env, roll.KarpenterConfig{Groups: []*cloud.Group{c.group}, Shapes: c.shapes, Kubelets: config, GracePeriod: s.gracePeriod})
	}
	if s.provider == model.CAPI {
		c.machines = roll.NewMachines(c.Env, roll.MachinesConfig{Cluster: "rig", Groups: []*cloud.Group{c.group}, Shapes: c.shapes})
	}
	if s.provider == model.KOps {
		roll.NewKopsController(c.Env, c.shapes)
	}
	for n := range s.nodes {
		i := cl.Seed(c.group, c.group.Zones[n%s.zones])
		c.old[c.kubelets.Seed(i, time.Duration(24+n)*time.Hour).UID] = true
	}
	if c.karpenter != nil {
		c.karpenter.SeedNodeClaims()
	}
	if c.machines != nil {
		c.machines.Seed()
	}
	if s.pods > 0 {
		err := c.workloads.Seed([]controllers.Workload{{
			Kind: controllers.DaemonSet, Namespace: "kube-system", Name: "kube-proxy",
			Template: controllers.PodTemplate{
				Labels: kube.PairsOf(kube.Pair{Key: "app", Value: "kube-proxy"}), GraceSeconds: 30, PriorityClass: "system-node-critical", HostNetwork: true,
				Containers:  []kube.ContainerSpec{{Name: "kube-proxy", Image: "registry.example/kube-proxy:1", CPU: 50}},
				Tolerations: []kube.Toleration{{Operator: "Exists", Seconds: -1}},
			},
		}, {
			Kind: controllers.Deployment, Namespace: "shop", Name: "web", Replicas: s.pods,
			Template: controllers.PodTemplate{
				Labels: kube.PairsOf(kube.Pair{Key: "app", Value: "web"}), GraceSeconds: 30,
				Containers: []kube.ContainerSpec{{Name: "web", Image: "registry.example/web:1", CPU: 100, Memory: 64 << 20}},
				Traits:     &component.PodTraits{StartReady: model.Fixed(2 * time.Second), Stop: model.Fixed(3 * time.Second)},
			},
		}}, scheduler, c.kubelets.Running)
		if err != nil {
			t.Fatal(err)
		}
	}
	controllers.NewDisruption(c.Env)
	if s.budget != "" {
		b := &kube.Budget{MinAvailable: s.budget, Selector: kube.PairsOf(kube.Pair{Key: "app", Value: "web"})}
		b.Namespace, b.Name = "shop", "web"
		if err := store.CreateBudget(b); err != nil {
			t.Fatal(err)
		}
	}
	cl.Watch(func(cloud.Change, *cloud.Instance) { c.check() })
	store.WatchNodes(c.nodeChanged)
	store.WatchPods(c.podChanged)
	if s.strategy == nil {
		return c
	}
	cfg := roll.Config{
		Group: c.group, From: c.from, To: c.to, Size: s.nodes, At: 30 * time.Second,
		EvictionTimeout: 15 * time.Minute, JoinTimeout: 15 * time.Minute,
	}
	if s.roll != nil {
		s.roll(&cfg)
	}
	c.roller = roll.New(c.Env, cfg, s.strategy(c))
	c.roller.Ended = func(o roll.Outcome) { c.out = &o }
	return c
}

// check runs what a property test looks at with every change.
func (c *cluster) check() {
	for _, f := range c.steps {
		f()
	}
}

// run lets time pass.
func (c *cluster) run(until time.Duration) {
	c.Helper()
	if err := c.Run(until); err != nil {
		c.Fatal(err)
	}
}

// rolled runs until the roll has ended and what it asked for has come about.
func (c *cluster) rolled(limit time.Duration) roll.Outcome {
	c.Helper()
	for c.out == nil && c.Now() < limit {
		c.run(c.Now() + 10*time.Second)
	}
	if c.out == nil {
		c.Fatalf("the roll goes on after %v", limit)
	}
	c.run(c.Now() + 3*time.Minute)
	return *c.out
}

func (c *cluster) move(what, name, uid string) {
	c.moves = append(c.moves, move{c.Now(), what, name, uid})
	c.check()
}

func (c *cluster) nodeChanged(change kube.Change, was, n *kube.Node) {
	switch change {
	case kube.Added:
		c.move("node-added", n.Name, n.UID)
	case kube.Deleted:
		c.move("node-deleted", n.Name, n.UID)
	case kube.Modified:
		if n.Unschedulable && !was.Unschedulable {
			c.move("cordoned", n.Name, n.UID)
		}
		if !n.Unschedulable && was.Unschedulable {
			c.move("uncordoned", n.Name, n.UID)
		}
		if n.Ready() && !was.Ready() {
			c.move("ready", n.Name, n.UID)
		}
		if n.Terminating() && !was.Terminating() {
			c.move("node-deleting", n.Name, n.UID)
		}
		for _, t := range n.Taints {
			if !was.HasTaint(t.Key, t.Effect) {
				c.move("tainted "+t.Key+":"+t.Effect, n.Name, n.UID)
			}
		}
		for _, t := range was.Taints {
			if !n.HasTaint(t.Key, t.Effect) {
				c.move("untainted "+t.Key+":"+t.Effect, n.Name, n.UID)
			}
		}
		if v := n.Labels.Get("node.kubernetes.io/exclude-from-external-load-balancers"); v != was.Labels.Get("node.kubernetes.io/exclude-from-external-load-balancers") {
			c.move("excluded "+v, n.Name, n.UID)
		}
	}
}

func (c *cluster) podChanged(change kube.Change, was, p *kube.Pod) {
	if change != kube.Modified || p.NodeName == "" {
		return
	}
	if d := p.Conditions.Get("DisruptionTarget"); d != nil && d.Reason == "EvictionByEvictionAPI" && was.Conditions.Get("DisruptionTarget") == nil {
		c.move("evicted", p.NodeName, p.UID)
	}
	if p.Terminating() && !was.Terminating() && p.Conditions.Get("DisruptionTarget") == nil {
		c.move("deleted", p.NodeName, p.UID)
	}
}

// note keeps the events of the tape that the tests ask for.
func (c *cluster) note(ev timeline.Event) error {
	switch {
	case ev.Resource == "nodeclaims" && ev.Type == timeline.Deleted:
		delete(c.claims, ev.Name)
	case ev.Resource == "nodeclaims":
		c.claims[ev.Name] = true
	case ev.Type == timeline.Mark:
		c.marks = append(c.marks, ev.Name+" "+ev.Reason)
	case ev.Resource == "events" && ev.Type == timeline.Added:
		var e struct {
			Reason, Message, ReportingComponent string
			InvolvedObject                      struct{ Kind, Name string }
			Source                              struct{ Component string }
		}
		if err := json.Unmarshal(ev.Object, &e); err != nil {
			return err
		}
		c.events = append(c.events, event{ev.At, e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Message, e.Source.Component + e.ReportingComponent})
	}
	return nil
}

// moved are the moves of a kind.
func (c *cluster) moved(what string) []move {
	var out []move
	for _, m := range c.moves {
		if m.what == what {
			out = append(out, m)
		}
	}
	return out
}

// reported are the events of a reason.
func (c *cluster) reported(reason string) []event {
	var out []event
	for _, e := range c.events {
		if e.reason == reason {
			out = append(out, e)
		}
	}
	return out
}

// story is the moves and marks of some kinds in a line each, for a failing test.
func (c *cluster) story() string {
	var b strings.Builder
	for _, m := range c.moves {
		fmt.Fprintf(&b, "%9v %s %s\n", m.at.Round(100*time.Millisecond), m.what, m.name)
	}
	for _, m := range c.marks {
		fmt.Fprintln(&b, m)
	}
	return b.String()
}

func plain(*cluster) func(roll.Base) roll.Strategy      { return roll.Plain }
func eksDefault(*cluster) func(roll.Base) roll.Strategy { return roll.EKSDefault }
func eksMinimal(*cluster) func(roll.Base) roll.Strategy { return roll.EKSMinimal }

func karpenterDrift(c *cluster) func(roll.Base) roll.Strategy {
	return roll.KarpenterDrift(c.karpenter)
}
func capi(c *cluster) func(roll.Base) roll.Strategy       { return roll.CAPI(c.machines) }
func gkeSurge(*cluster) func(roll.Base) roll.Strategy     { return roll.GKESurge }
func gkeBlueGreen(*cluster) func(roll.Base) roll.Strategy { return roll.GKEBlueGreen }
func aksReimage(*cluster) func(roll.Base) roll.Strategy   { return roll.AKSReimage }
func kops(*cluster) func(roll.Base) roll.Strategy         { return roll.KOps }
