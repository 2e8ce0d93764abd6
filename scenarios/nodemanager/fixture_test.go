package nodemanager

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
	"github.com/nodesim/nodesim/scenarios/nodemanager/nodeclient"
	"github.com/nodesim/nodesim/scenarios/nodemanager/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

// fixture is a controller with everything around it scripted. It lives in a bubble of synctest, so that step returns when
// nobody has anything to do until the clock goes on.
type fixture struct {
	t     *testing.T
	clock clock.WithTicker
	fake  *clocktesting.FakeClock // nil where the clock is that of the bubble
	cloud *scriptedCloud
	nodes *registry.NodeRegistry
	pods  *registry.PodRegistry
	*NodeController

	began time.Time

	mu      sync.Mutex
	told    []string // events, as "type node pod"
	reports []string

	quit chan struct{}
	wg   sync.WaitGroup
}

// inFixture runs a test in a bubble of its own, and ends the controller after it if the test hasn't.
func inFixture(t *testing.T, test func(*fixture)) {
	t.Helper()
	fake := clocktesting.NewFakeClock(epoch)
	bubble(t, fake, fake, test)
}

// inBubbleTime is inFixture with the time of the bubble, which stops at every moment for which somebody has set a timer.
// Nothing happens at once then unless it is meant to.
func inBubbleTime(t *testing.T, test func(*fixture)) {
	t.Helper()
	bubble(t, clock.RealClock{}, nil, test)
}

func bubble(t *testing.T, c clock.WithTicker, fake *clocktesting.FakeClock, test func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		system := events.NewEventSystem(c)
		w := &fixture{
			t: t, clock: c, fake: fake, began: c.Now(), cloud: &scriptedCloud{running: map[string]string{}, stops: map[string]int{}},
			nodes: registry.NewNodeRegistry(c, system), pods: &registry.PodRegistry{}, quit: make(chan struct{}),
		}
		system.RegisterHandler("", func(e events.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, strings.TrimSpace(e.Type+" "+e.Node.Name+" "+e.Node.Status.BoundPodName))
		})
		keeper := cloud.NewKeeper(c)
		w.NodeController = w.controller(keeper, system)
		test(w)
		w.end()
	})
}

// controller makes one more controller of the same fixture, as a process that was started again would.
func (w *fixture) controller(keeper cloud.StatusKeeper, system *events.EventSystem) *NodeController {
	return &NodeController{
		Config: NodeControllerConfig{
			PoolInterval: 3 * time.Second, HeartbeatInterval: 2 * time.Second, ReaperInterval: time.Second,
		},
		NodeRegistry: w.nodes, PodReader: w.pods, LogRegistry: &registry.LogRegistry{}, Events: system, CloudClient: w.cloud,
		NodeDispenser: NewNodeDispenser(), NodeClientFactory: (*scriptedAgents)(w.cloud), CloudStatus: keeper,
		NodeScaler: NewBindingNodeScaler(w.nodes, nil, keeper, "", false), Clock: w.clock,
		Tuning: Tuning{BootTimeout: time.Minute, HealthcheckPause: time.Second},
		Report: func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.reports = append(w.reports, err.Error())
		},
	}
}

func (w *fixture) begin() {
	w.Start(w.quit, &w.wg)
	synctest.Wait()
}

// end ends the controller and waits for it.
func (w *fixture) end() {
	select {
	case <-w.quit:
	default:
		close(w.quit)
	}
	w.wg.Wait()
	w.Close()
}

// step lets time go on, second by second, and everybody do what there is to do.
func (w *fixture) step(d time.Duration) {
	if w.fake == nil {
		<-time.After(d)
		synctest.Wait()
		return
	}
	for ; d > 0; d -= time.Second {
		w.fake.Step(min(d, time.Second))
		synctest.Wait()
	}
}

// add stores a node of type A and changes it first.
func (w *fixture) add(name string, phase api.NodePhase, change ...func(*api.Node)) *api.Node {
	w.t.Helper()
	node := api.NewNode(name)
	node.Spec.InstanceType, node.Status.Phase = "A", phase
	if phase != api.NodeCreating {
		node.Status.InstanceID = "i-" + name
		w.cloud.running[node.Status.InstanceID] = name
		if phase != api.NodeCreated {
			node.Status.Addresses = addressOf("i-" + name)
		}
	}
	for _, f := range change {
		f(node)
	}
	stored, err := w.nodes.CreateNode(node)
	if err != nil {
		w.t.Fatal(err)
	}
	return stored
}

func (w *fixture) wait(name, instanceType string) api.Pod {
	pod := &api.Pod{ObjectMeta: api.ObjectMeta{Name: name, CreationTimestamp: w.clock.Now()}}
	pod.Spec.Phase, pod.Spec.InstanceType, pod.Spec.Spot.Policy = api.PodRunning, instanceType, api.SpotNever
	pod.Status.Phase = api.PodWaiting
	w.pods.Put(pod)
	return *pod
}

// state is every node, those that went in the last minute too, as "name Phase pod".
func (w *fixture) state() string {
	w.t.Helper()
	list, err := w.nodes.ListAllNodes(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, n := range list.Items {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", n.Name, n.Status.Phase, n.Status.BoundPodName)))
	}
	return strings.Join(all, ", ")
}

func (w *fixture) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: found %q, want %q\nreports: %q", what, got, want, w.said())
	}
}

func (w *fixture) said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.reports)
}

func (w *fixture) events() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.told, ", ")
}

// addressOf is where the agent of an instance listens.
func addressOf(instance string) []api.NetworkAddress {
	return []api.NetworkAddress{{Type: api.PrivateIP, Address: instance}}
}

// scriptedCloud starts instances at once unless a hook says something else. Hooks are set before the controller begins,
// or while it waits for the clock.
type scriptedCloud struct {
	mu      sync.Mutex
	started int
	running map[string]string // instance to node
	stops   map[string]int    // calls of StopInstance
	asked   []string          // "node A spot" for each start

	onStart func(ctx context.Context, node *api.Node) error // before the instance is there
	onStop  func(instance string, attempt int) error
	onRun   func(ctx context.Context, node *api.Node) error
	onImage func() (string, error)
	onProbe func(ctx context.Context, instance string) error
	onFile  func(instance string) ([]byte, error)
	dropped []string // instances whose client was dropped
	unnamed bool     // instances run and have no address
}

var errRefused = errors.New("refused")

func (s *scriptedCloud) StartNode(ctx context.Context, node *api.Node, metadata string) (*cloud.StartNodeResult, error) {
	return s.start(ctx, node, metadata)
}

func (s *scriptedCloud) StartSpotNode(ctx context.Context, node *api.Node, metadata string) (*cloud.StartNodeResult, error) {
	return s.start(ctx, node, "spot "+metadata)
}

func (s *scriptedCloud) start(ctx context.Context, node *api.Node, metadata string) (*cloud.StartNodeResult, error) {
	s.mu.Lock()
	s.asked = append(s.asked, strings.TrimSpace(node.Spec.InstanceType+" "+metadata))
	hook := s.onStart
	s.mu.Unlock()
	if hook != nil {
		if err := hook(ctx, node); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started++
	id := fmt.Sprintf("i-%d", s.started)
	s.running[id] = node.Name
	return &cloud.StartNodeResult{InstanceID: id, AvailabilityZone: "zone-1"}, nil
}

func (s *scriptedCloud) StopInstance(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stops[id]++
	if id == "" {
		return errors.New("no instance has an empty id")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.onStop != nil {
		if err := s.onStop(id, s.stops[id]); err != nil {
			return err
		}
	}
	delete(s.running, id)
	return nil
}

func (s *scriptedCloud) WaitForRunning(ctx context.Context, node *api.Node) ([]api.NetworkAddress, error) {
	s.mu.Lock()
	hook := s.onRun
	s.mu.Unlock()
	if hook != nil {
		if err := hook(ctx, node); err != nil {
			return nil, err
		}
	}
	if s.unnamed {
		return nil, nil
	}
	return addressOf(node.Status.InstanceID), nil
}

func (s *scriptedCloud) GetImageID(context.Context, cloud.BootImageSpec) (string, error) {
	return s.onImage()
}

// instances are the running ones, as "id of node", sorted.
func (s *scriptedCloud) instances() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for id, node := range s.running {
		all = append(all, id+" of "+node)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// stopCalls are the calls of StopInstance so far.
func (s *scriptedCloud) stopCalls() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint(s.stops)
}

// scriptedAgents answer for the instances of a scripted cloud.
type scriptedAgents scriptedCloud

func (a *scriptedAgents) GetClient(addresses []api.NetworkAddress) nodeclient.ItzoClient {
	return agent{a, addresses[0].Address}
}

func (a *scriptedAgents) DeleteClient(addresses []api.NetworkAddress) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, address := range addresses {
		a.dropped = append(a.dropped, address.Address)
	}
}

type agent struct {
	*scriptedAgents
	instance string
}

func (a agent) Healthcheck(ctx context.Context) error {
	a.mu.Lock()
	hook := a.onProbe
	a.mu.Unlock()
	if hook != nil {
		return hook(ctx, a.instance)
	}
	return nil
}

func (a agent) GetFile(_ context.Context, path string, limit int) ([]byte, error) {
	if a.onFile != nil {
		return a.onFile(a.instance)
	}
	return fmt.Appendf(nil, "last %d bytes of %s of %s", limit, path, a.instance), nil
}
