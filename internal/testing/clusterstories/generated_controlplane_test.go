//go:build controlplane

package clusterstories_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/clusterstories"
	"github.com/nodesim/nodesim/internal/testing/simcheck"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

// A generated story is told by a real control plane and by a scenario.
type generatedStory struct {
	story    clusterstories.Story
	options  testcluster.Options
	scenario string
	inOrder  bool
}

// generated makes the story of a number: groups, workloads, budgets, strategies and what goes wrong, by chance.
func generated(number uint64) generatedStory {
	chance := rand.New(rand.NewPCG(number, 1))
	nodes := 1 + chance.IntN(4)
	zones := []string{"us-east-1a", "us-east-1b", "us-east-1c"}[:1+chance.IntN(min(nodes, 3))]
	group := testcluster.Group{Name: "workers", Zones: zones, Instance: "m6i.2xlarge"}
	spot := chance.IntN(3) == 0
	group.Capacity = "ON_DEMAND"
	if spot {
		group.Capacity = "SPOT"
	}
	g := generatedStory{story: clusterstories.Story{Name: fmt.Sprintf("generated-%d", number), Group: group, Nodes: nodes}, inOrder: true}

	kind := []string{"plain", "plain", "plain", "force", "stuck", "managed", "vanish"}[chance.IntN(7)]
	if kind == "vanish" && nodes == 1 {
		kind = "plain"
	}
	// Each node has as many pods of the first workload. Its budget lets fewer go than that, or all of them, so that it isn't up to
	// chance whether it blocks. Where the surge goes at the end, chance has it how many pods are on which node.
	each := 2 + chance.IntN(3)
	var workloads, budgets strings.Builder
	for i := range 1 + chance.IntN(3) {
		name := string(rune('a'+i)) + "-web"
		replicas := 1 + chance.IntN(6)
		switch {
		case i == 0:
			replicas = nodes * each
		case kind == "vanish" || kind == "stuck": // not every node gets its turn
			replicas = nodes
		}
		w := testcluster.Workload{Name: name, Replicas: int32(replicas), CPU: []string{"100m", "250m"}[chance.IntN(2)]}
		switch {
		case i > 0 || kind == "managed":
		case kind == "stuck" || kind == "force":
			w.MinAvailable = replicas
		case chance.IntN(3) > 0:
			w.MinAvailable = replicas - 1 - chance.IntN(each-1)
		}
		g.story.Workloads = append(g.story.Workloads, w)
		fmt.Fprintf(&workloads, "- {name: %s, replicas: %d, requests: {cpu: %s, memory: \"0\"}, grace: 5s, group: workers}\n", name, replicas, w.CPU)
		if w.MinAvailable > 0 {
			fmt.Fprintf(&budgets, "- {workload: %s, minAvailable: %d}\n", name, w.MinAvailable)
		}
	}

	var rest string
	limit := "30m"
	settle := "3s"
	g.story.After = 3 * time.Second // until what a controller notices late is there
	switch kind {
	case "vanish":
		g.story.Act = clusterstories.Vanish("ip-10-0-1-10", g.story.Workloads[0])
		limit, settle, g.story.After = "4m", "2m", 0
		rest = "timings: {monitorGrace: 10s, capacityRequest: 1h}\nfaults:\n- {at: 0s, vanish: {nodes: 1}}\n"
	case "managed":
		g.inOrder = false // the nodes of the simulated surge join at once
		g.story.Act = clusterstories.Roll(testcluster.Roll{
			Group: group, Surge: 2 * len(zones), CordonAll: true, AfterDrain: 500 * time.Millisecond, Pause: 100 * time.Millisecond,
		})
		rest = "roll: {strategy: eks-default, at: 0s, settleAfterDrain: 500ms}\n" +
			"timings: {capacityRequest: 100ms, boot: 1s, rollerPoll: 100ms, cordonSpacing: 5ms, evictionRetry: 250ms, scaleDownStep: 100ms}\n"
	default:
		roll := testcluster.Roll{Group: group, EvictionTimeout: 15 * time.Minute, Retry: time.Second}
		strategy := "{strategy: plain, at: 0s, evictionTimeout: 15m}"
		if kind != "plain" {
			roll.EvictionTimeout, roll.Force = 15*time.Second, kind == "force"
			strategy = fmt.Sprintf("{strategy: plain, force: %t, at: 0s, evictionTimeout: 15s}", roll.Force)
		}
		g.story.Act = clusterstories.Roll(roll)
		rest = "roll: " + strategy + "\ntimings: {boot: 1s, rollerPoll: 2s, evictionRetry: 1s}\n"
	}
	capacity := ""
	if spot {
		capacity = ", capacityType: SPOT"
	}
	budgetList := ""
	if budgets.Len() > 0 {
		budgetList = "budgets:\n" + budgets.String()
	}
	g.scenario = fmt.Sprintf(`apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: generated-%d, title: "%s"}
timeLimit: %s
settle: %s
cluster: {provider: eks, kubernetesVersion: "1.36", kubelet: kwok, region: us-east-1, zones: [us-east-1a, us-east-1b, us-east-1c], handler: none}
groups:
- {name: workers, nodes: %d, instanceType: m6i.2xlarge, zones: [%s]%s}
workloads:
%s%s%s`, number, kind, limit, settle, nodes, strings.Join(zones, ", "), capacity, workloads.String(), budgetList, rest)
	return g
}

// stories is how many generated stories are told, first the number of the first one: to tell one again that differed.
var (
	stories = flag.Int("stories", usualStories(), "how many generated stories are told")
	first   = flag.Uint64("first", 1, "the number of the first generated story")
)

func usualStories() int {
	if os.Getenv("NODESIM_SOAK") != "" {
		return 200
	}
	return 5
}

// atOnce is how many control planes tell stories at the same time.
const atOnce = 3

// Generated scenarios, told by a real control plane, are like their simulations.
func TestGeneratedStoriesAreAsSimulated(t *testing.T) {
	n := *stories
	turn := make(chan struct{}, atOnce)
	var told sync.WaitGroup
	tapes, failed := make([]string, n), make([]error, n)
	folder := t.TempDir()
	for i := range n {
		told.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			tapes[i] = filepath.Join(folder, fmt.Sprintf("%d.yaml", i))
			failed[i] = tell(t.Context(), generated(*first+uint64(i)), tapes[i])
		})
	}
	told.Wait()
	alike, steps := 0, 0
	for i := range n {
		g := generated(*first + uint64(i))
		t.Run(g.story.Name, func(t *testing.T) {
			if failed[i] != nil {
				t.Fatal(failed[i])
			}
			report, err := simcheck.AgainstScenario(g.story.Name, g.scenario, 1, open(t, tapes[i]), g.inOrder)
			if err != nil {
				t.Fatalf("%v\n%s", err, g.scenario)
			}
			if !report.Equal() {
				t.Fatalf("the simulation isn't like the recording:\n%s\n%s", report, g.scenario)
			}
			alike++
			steps += report.Alike
		})
	}
	line := fmt.Sprintf("generated stories: %d of %d simulations are like the recordings of a real control plane, in %d steps", alike, n, steps)
	t.Log(line)
	if err := simcheck.Tell("generated-stories", line); err != nil {
		t.Error(err)
	}
}

// tell has a story told by a control plane of its own.
func tell(ctx context.Context, g generatedStory, tape string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	c, err := testcluster.Start(g.options)
	if err != nil {
		return err
	}
	err = g.story.Record(ctx, c, tape)
	if stopped := c.Stop(); err == nil {
		err = stopped
	}
	return err
}
