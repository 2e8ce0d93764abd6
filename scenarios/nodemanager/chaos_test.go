package nodemanager

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
)

// chaos drives a fixture by chance: pods come and go, take nodes and give them back, the cloud is slow, refuses and
// fails, agents are silent, controllers are started again. What chance says depends on the seed, the moment and what is
// asked, and not on who asks first, so that a seed tells the same story each time.
type chaos struct {
	*fixture
	seed    uint64
	calm    atomic.Bool
	holding map[string]string // pod to claimed node
	quit    chan struct{}
	wg      *sync.WaitGroup
	story   []string
}

// roll is true once in n.
func (c *chaos) roll(n uint64, about ...any) bool {
	h := fnv.New64a()
	fmt.Fprint(h, c.seed, c.clock.Since(c.began).Round(time.Millisecond), about)
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return !c.calm.Load() && x%n == 0
}

// script sets the hooks of cloud and agents.
func (c *chaos) script() {
	c.cloud.onStart = func(ctx context.Context, node *api.Node) error {
		if c.roll(3, "slow start", node.Name) {
			select {
			case <-c.clock.After(20 * time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if c.roll(6, "capacity", node.Name) {
			return &cloud.NoCapacityError{}
		}
		if c.roll(8, "start", node.Name) {
			return errRefused
		}
		return nil
	}
	c.cloud.onRun = func(_ context.Context, node *api.Node) error {
		if c.roll(10, "run", node.Name) {
			return errRefused
		}
		return nil
	}
	c.cloud.onStop = func(instance string, attempt int) error {
		if c.roll(2, "stop", instance[:2], attempt) {
			return errRefused
		}
		return nil
	}
	c.cloud.onProbe = func(_ context.Context, instance string) error {
		c.cloud.mu.Lock()
		node := c.cloud.running[instance]
		c.cloud.mu.Unlock()
		if node == "" || c.roll(4, "probe", node, c.clock.Since(c.began)/(30*time.Second)) {
			return errRefused
		}
		return nil
	}
}

// second is one second of the pods' lives.
func (c *chaos) second(i int) {
	if c.roll(4, "come") {
		c.wait(fmt.Sprintf("pod-%03d", i), []string{"A", "B"}[i%2])
	}
	pods, err := c.pods.ListPods(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, pod := range pods.Items {
		node, holds := c.holding[pod.Name]
		switch {
		case holds && c.roll(20, "leave", pod.Name):
			unused := c.roll(2, "unused", pod.Name)
			c.NodeDispenser.ReturnNode(node, unused)
			synctest.Wait()
			delete(c.holding, pod.Name)
			c.pods.Delete(pod.Name)
		case !holds && c.roll(30, "give up", pod.Name):
			c.pods.Delete(pod.Name)
		case !holds && i > 5 && c.roll(3, "ask", pod.Name):
			reply := c.NodeDispenser.RequestNode(*pod)
			if reply.Node == nil {
				continue
			}
			if reply.Node.Status.BoundPodName != pod.Name || reply.Node.Spec.InstanceType != pod.Spec.InstanceType {
				c.t.Errorf("pod %s got node %+v", pod.Name, reply.Node)
			}
			c.holding[pod.Name] = reply.Node.Name
			pod.Status.Phase, pod.Status.BoundNodeName = api.PodRunning, reply.Node.Name
			c.pods.Put(pod)
		}
	}
	list, err := c.nodes.ListNodes(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, node := range list.Items {
		if node.Status.Phase != api.NodeClaimed && c.roll(150, "terminate", node.Name) {
			if err := c.nodes.MarkForTermination(node); err != nil {
				c.t.Error(err)
			}
		}
	}
	synctest.Wait()
}

// restart ends the controller and starts a new one on the same registry.
func (c *chaos) restart() {
	if c.quit != nil {
		close(c.quit)
		c.wg.Wait()
	}
	c.NodeController = c.controller(c.CloudStatus, c.Events)
	c.NodeScaler = NewScaler(ScalerConfig{
		Seed: c.seed, Standby: []StandbyNodeSpec{{InstanceType: "A", Count: 2}}, Backoff: DefaultBackoff(),
		IdleGrace: 20 * time.Second,
	})
	if c.fake == nil { // loops that never turn at the same moment
		c.Config.PoolInterval += 7
		c.Config.HeartbeatInterval += 3
		c.Config.ReaperInterval++
	}
	c.quit, c.wg = make(chan struct{}), &sync.WaitGroup{}
	c.Start(c.quit, c.wg)
	synctest.Wait()
}

// check holds whenever nobody has anything to do.
func (c *chaos) check() {
	c.t.Helper()
	list, err := c.nodes.ListNodes(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	known := map[string]api.NodePhase{}
	bound := map[string]string{}
	for _, node := range list.Items {
		known[node.Status.InstanceID] = node.Status.Phase
		if pod := node.Status.BoundPodName; node.Status.Phase == api.NodeClaimed {
			if other, twice := bound[pod]; twice || pod == "" {
				c.t.Fatalf("seed %d: nodes %s and %s are claimed for pod %q", c.seed, other, node.Name, pod)
			}
			bound[pod] = node.Name
		}
	}
	c.cloud.mu.Lock()
	defer c.cloud.mu.Unlock()
	for instance, node := range c.cloud.running {
		if _, ok := known[instance]; !ok {
			c.t.Fatalf("seed %d: instance %s of node %s runs, and no node knows it: %s", c.seed, instance, node, c.state())
		}
	}
	for instance, phase := range known {
		if _, runs := c.cloud.running[instance]; !runs && (phase == api.NodeAvailable || phase == api.NodeClaimed) {
			c.t.Fatalf("seed %d: a node is %s and its instance %s is stopped", c.seed, phase, instance)
		}
	}
	if c.cloud.stops[""] > 0 {
		c.t.Fatalf("seed %d: an instance without an id was stopped", c.seed)
	}
}

// live plays one story and returns it.
func live(t *testing.T, seed uint64, in func(*testing.T, func(*fixture))) (story []string) {
	in(t, func(w *fixture) {
		c := &chaos{fixture: w, seed: seed, holding: map[string]string{}}
		c.script()
		c.restart()
		const seconds = 150
		for i := range seconds {
			if i > 0 && i%40 == 0 {
				c.restart()
				c.step(4 * time.Second) // until a plan is made, requests wait
			}
			c.step(time.Second)
			c.second(i)
			c.check()
			w.mu.Lock()
			slices.Sort(w.told)
			for _, line := range w.told {
				c.story = append(c.story, fmt.Sprintf("%ds %s", i, line))
			}
			w.told = nil
			w.mu.Unlock()
		}
		c.settle()
		close(c.quit)
		c.wg.Wait()
		story = c.story
	})
	return story
}

// settle ends the faults: every pod that waits gets a node, and when all have left only the standby nodes remain.
func (c *chaos) settle() {
	c.calm.Store(true)
	late := c.wait("late", "B")
	c.step(cloud.MarkTTL + time.Minute) // every refusal is forgotten, every stop was repeated
	if reply := c.NodeDispenser.RequestNode(late); reply.Node == nil {
		c.t.Errorf("seed %d: the last pod got no node: %s", c.seed, c.state())
	} else {
		c.holding["late"] = reply.Node.Name
	}
	for _, node := range c.holding {
		c.NodeDispenser.ReturnNode(node, false)
	}
	pods, err := c.pods.ListPods(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, pod := range pods.Items {
		c.pods.Delete(pod.Name)
	}
	c.step(20 * time.Minute)
	c.check()
	if got := strings.Count(c.state(), "Available"); got != 2 || len(c.cloud.running) != 2 {
		c.t.Errorf("seed %d: in the end %s, instances %s; want the two of the pool", c.seed, c.state(), c.cloud.instances())
	}
}

func TestNoInstanceIsEverLost(t *testing.T) {
	for seed := range uint64(8) {
		if story := live(t, seed, inFixture); len(story) < 20 {
			t.Errorf("seed %d: only %d things happened: %q", seed, len(story), story)
		}
	}
}

// TestASeedTellsOneStory holds as far as the loops don't turn at the same moment: of those, either may come first.
func TestASeedTellsOneStory(t *testing.T) {
	for seed := range uint64(3) {
		if diff := cmp.Diff(live(t, seed, inBubbleTime), live(t, seed, inBubbleTime)); diff != "" {
			t.Errorf("seed %d: two stories (-first +second)\n%s", seed, diff)
		}
	}
}
