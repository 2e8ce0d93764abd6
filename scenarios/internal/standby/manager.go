package standby

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
	"github.com/nodesim/nodesim/scenarios/nodemanager"
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	plancloud "github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
	"github.com/nodesim/nodesim/scenarios/nodemanager/registry"
	"github.com/nodesim/nodesim/scenarios/nodemanager/tasks"
)

// SchedulerName is the schedulerName of pods that are to have nodes of their own, and the reportingController of Events.
const SchedulerName = "nodemanager"

// Config says what is scaled.
type Config struct {
	// Groups whose instances are launched and terminated, one by one: they are detached. A pod's node is of the first whose
	// nodes it may run on.
	Groups []*cloud.Group
	// Pools are the numbers of free nodes, by group.
	Pools map[string]int
	// Kubelets says what a new node looks like.
	Kubelets kubelet.Config
}

// Manager is the node manager of a cluster.
type Manager struct {
	env      *component.Env
	cfg      Config
	chance   model.Stream
	reporter scheduler.Reporter
	judge    scheduler.Scheduler

	turns      *tasks.Turns
	controller *nodemanager.NodeController
	nodes      *registry.NodeRegistry
	marks      *plancloud.Keeper
	end        context.CancelFunc

	pods    map[string]*kube.Pod // those that name us, by their names here
	order   []string             // of pods that wait, as they came
	warned  map[*kube.Pod]bool   // whose waiting an Event and a condition tell
	claimed map[string]string    // the nodes of pods
	agents  scheduler.Agents     // which take room on a new node
	shapes  map[*cloud.Group]nodeShape
	left    []string // nodes whose pods have gone
}

// New starts a node manager, which looks at the cluster when time begins to pass.
func New(env *component.Env, cfg Config) *Manager {
	m := &Manager{
		env: env, cfg: cfg, chance: env.Stream("nodemanager"), judge: scheduler.Scheduler{Env: env}, end: func() {},
		pods: map[string]*kube.Pod{}, warned: map[*kube.Pod]bool{}, claimed: map[string]string{},
		shapes: map[*cloud.Group]nodeShape{},
	}
	m.reporter = scheduler.Reporter{Env: env, Name: SchedulerName, Instance: SchedulerName + "-" + m.chance.UUID()}
	m.turns = tasks.NewTurns(env.After)
	var zones []plancloud.Subnet
	if len(cfg.Groups) > 0 {
		for _, z := range cfg.Groups[0].Zones {
			zones = append(zones, plancloud.Subnet{ID: z, Zone: z, Public: true})
		}
	}
	now := simulated{env: env}
	system := events.NewEventSystem(now)
	system.RegisterHandler(events.NodeCleaning, m.cleaning)
	m.nodes, m.marks = registry.NewNodeRegistry(now, system), plancloud.NewKeeper(now, zones...)
	m.controller = &nodemanager.NodeController{
		NodeRegistry: m.nodes, PodReader: pods{m}, NodeDispenser: nodemanager.NewNodeDispenser(), NodeScaler: m.scaler(),
		CloudClient: provider{m}, NodeClientFactory: provider{m}, Events: system, CloudStatus: m.marks,
		Clock: now, Turns: m.turns, Seed: env.Seed,
	}
	env.API.WatchPods(m.pod)
	env.API.WatchNodes(func(kube.Change, *kube.Node, *kube.Node) { m.turns.Changed() })
	env.Cloud.Watch(func(cloud.Change, *cloud.Instance) { m.turns.Changed() })
	env.After(0, m.begin)
	return m
}

// scaler decides as nodemanager's own programs do, within the largest sizes of the groups.
func (m *Manager) scaler() *nodemanager.BindingNodeScaler {
	c := nodemanager.ScalerConfig{
		IdleGrace: nodemanager.DefaultIdleGrace, Backoff: nodemanager.DefaultBackoff(), Seed: m.env.Seed,
		Unavailable: func(group string, spot, private bool, zone string, now time.Time) bool {
			g := m.env.Cloud.Group(group)
			return g == nil || len(g.Instances()) >= g.Max || m.marks.IsUnavailableZoneAt(group, spot, private, zone, now)
		},
	}
	for _, g := range m.cfg.Groups {
		if n := m.cfg.Pools[g.Name]; n > 0 {
			c.Standby = append(c.Standby, nodemanager.StandbyNodeSpec{InstanceType: g.Name, Count: n, Spot: g.Spot})
		}
	}
	return nodemanager.NewScaler(c)
}

// begin enters the nodes that are there, as an earlier controller would have left them, and starts the controller.
func (m *Manager) begin() {
	for _, p := range m.env.API.Pods() {
		m.pod(kube.Added, nil, p)
	}
	on := map[string]string{} // node to pod
	for _, name := range m.order {
		on[m.pods[name].NodeName] = name
	}
	for _, g := range m.cfg.Groups {
		for _, i := range g.Instances() {
			n := api.NewNode(i.Name)
			n.Spec.InstanceType, n.Spec.Spot, n.Spec.Placement.AvailabilityZone = g.Name, g.Spot, i.Zone
			n.Status.InstanceID, n.Status.Addresses, n.Status.Phase = i.ID, address(i), api.NodeAvailable
			if pod := on[i.Name]; pod != "" {
				n.Status.Phase, n.Status.BoundPodName = api.NodeClaimed, pod
				m.claimed[pod] = n.Name
			}
			if _, err := m.nodes.CreateNode(n); err != nil {
				m.env.Fail(err)
			}
		}
	}
	m.controller.Start(nil, nil)
	var ctx context.Context
	ctx, m.end = context.WithCancel(context.Background())
	m.turns.Run(func() { m.dispatch(ctx) })
}

// Close ends the controller; nothing is written after that. The loop must not run meanwhile.
func (m *Manager) Close() {
	m.end()
	m.controller.Close()
}

// simulated is the simulation's clock. Nothing waits by it: tasks that take turns wait by their loop.
type simulated struct {
	clock.WithTicker
	env *component.Env
}

func (c simulated) Now() time.Time { return c.env.API.Now().Time() }

func (c simulated) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
