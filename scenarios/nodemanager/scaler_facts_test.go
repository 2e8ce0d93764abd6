package nodemanager_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager"
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
)

var start = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

// podsOf makes waiting pods from words: a type, "/zone", "+spot", "!Phase".
func podsOf(words string) []*api.Pod {
	var pods []*api.Pod
	for i, word := range strings.Fields(words) {
		pod := &api.Pod{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("pod-%02d", i)}}
		pod.Spec.Phase, pod.Status.Phase = api.PodRunning, api.PodWaiting
		pod.Spec.Spot.Policy = api.SpotNever
		word, phase, ok := strings.Cut(word, "!")
		if ok {
			pod.Status.Phase = api.PodPhase(phase)
		}
		word, spot := strings.CutSuffix(word, "+spot")
		if spot {
			pod.Spec.Spot.Policy = api.SpotAlways
		}
		pod.Spec.InstanceType, pod.Spec.Placement.AvailabilityZone, _ = strings.Cut(word, "/")
		pods = append(pods, pod)
	}
	return pods
}

// nodesOf makes available nodes from words: a type, "/zone", "+spot", "@pod" (bound), "!Phase".
func nodesOf(words string) []*api.Node {
	var nodes []*api.Node
	for i, word := range strings.Fields(words) {
		node := api.NewNode(fmt.Sprintf("old-%02d", i))
		node.Status.Phase = api.NodeAvailable
		word, phase, ok := strings.Cut(word, "!")
		if ok {
			node.Status.Phase = api.NodePhase(phase)
		}
		word, node.Status.BoundPodName, _ = strings.Cut(word, "@")
		word, node.Spec.Spot = strings.CutSuffix(word, "+spot")
		node.Spec.InstanceType, node.Spec.Placement.AvailabilityZone, _ = strings.Cut(word, "/")
		nodes = append(nodes, node)
	}
	return nodes
}

// words is the inverse of nodesOf without bindings, sorted.
func words(nodes []*api.Node) string {
	var all []string
	for _, node := range nodes {
		word := node.Spec.InstanceType
		if zone := node.Spec.Placement.AvailabilityZone; zone != "" {
			word += "/" + zone
		}
		if node.Spec.Spot {
			word += "+spot"
		}
		all = append(all, word)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// saver is a StatusUpdater that remembers, and fails for the nodes named in broken.
type saver struct {
	saved  map[string]*api.Node
	broken string
}

func (s *saver) UpdateStatus(node *api.Node) (*api.Node, error) {
	if node.Name == s.broken {
		return nil, fmt.Errorf("save %s: disk full", node.Name)
	}
	if s.saved == nil {
		s.saved = map[string]*api.Node{}
	}
	s.saved[node.Name] = node
	return node, nil
}

func TestCompute(t *testing.T) {
	standby := []nodemanager.StandbyNodeSpec{{InstanceType: "A", Count: 2}, {InstanceType: "A"}}
	spotPool := []nodemanager.StandbyNodeSpec{{InstanceType: "A", Count: 1, Spot: true}}
	for _, c := range []struct {
		name        string
		standby     []nodemanager.StandbyNodeSpec
		pods, nodes string
		start, stop string
	}{
		{"nothing", nil, "", "", "", ""},
		{"a pod", nil, "A", "", "A", ""},
		{"a pod in a zone", nil, "B/b", "", "B/b", ""},
		{"two pods", nil, "A B", "", "A B", ""},
		{"one of two is served", nil, "A B", "A", "B", ""},
		{"one of two alike", nil, "A A", "A", "A", ""},
		{"a node for nobody", nil, "", "A", "", "A"},
		{"two nodes for nobody", nil, "", "A A", "", "A A"},
		{"one fits, one doesn't", nil, "A A", "A B", "A", "B"},

		{"an empty pool", standby, "", "", "A A", ""},
		{"a pod takes of the pool", standby, "A", "A A", "A", ""},
		{"a pool with one too many", standby, "", "A A A", "", "A"},
		{"a pod of another type", standby, "B", "A", "A B", ""},
		{"a full pool", standby, "", "A A", "", ""},
		{"a spot pool takes no other node", spotPool, "", "A", "A+spot", "A"},

		{"a spot pod, a spot node", nil, "A+spot", "", "A+spot", ""},
		{"a spot pod and another", nil, "A+spot A", "", "A A+spot", ""},
		{"a spot pod takes no other node", nil, "A+spot", "A", "A+spot", "A"},
		{"two spot pods, two spot nodes", nil, "A+spot A+spot", "A+spot A+spot", "", ""},
		{"a pod that failed", nil, "A!Failed", "", "", ""},
		{"a spot node for nobody", nil, "", "A+spot", "", "A+spot"},

		{"a node still on its way", nil, "A", "A!Creating", "", ""},
		{"nodes that nobody can have", nil, "", "A!Claimed A!Cleaning A!Terminating A!Terminated", "", ""},
		{"a node of a pod that is gone", nil, "A", "A@gone", "", ""},
		{"a node of a pod that runs", nil, "A!Running B", "A@pod-00", "B", "A"},
		{"a pod in any zone", nil, "A", "A/b", "", ""},
		{"zones first", nil, "A A/b", "A/b A/c", "", ""},
	} {
		for _, volume := range []string{"", "5G"} {
			t.Run(c.name+" "+volume, func(t *testing.T) {
				nodes := nodesOf(c.nodes)
				for _, node := range nodes {
					node.Spec.Resources.VolumeSize = volume
				}
				s := nodemanager.NewBindingNodeScaler(&saver{}, c.standby, nil, volume, false)
				started, stopped, bindings := s.Compute(nodes, podsOf(c.pods))
				if got := words(started); got != c.start {
					t.Errorf("starts %q, want %q", got, c.start)
				}
				if got := words(stopped); got != c.stop {
					t.Errorf("stops %q, want %q", got, c.stop)
				}
				if bindings == nil {
					t.Error("found no bindings, want a map")
				}
			})
		}
	}
}

func TestComputeWithoutCapacity(t *testing.T) {
	for name, mark := range map[string]func(cloud.StatusKeeper){
		"zone": func(k cloud.StatusKeeper) { k.AddUnavailableZone("A", true, "a") },
		"type": func(k cloud.StatusKeeper) { k.AddUnavailableInstance("A", true) },
	} {
		keeper := cloud.NewKeeper(clocktesting.NewFakeClock(start))
		mark(keeper)
		s := nodemanager.NewBindingNodeScaler(&saver{}, nil, keeper, "", false)
		started, stopped, bindings := s.Compute(nil, podsOf("A/a+spot"))
		if len(started)+len(stopped)+len(bindings) != 0 || bindings == nil {
			t.Errorf("%s marked: starts %v, stops %v, binds %v; want nothing", name, started, stopped, bindings)
		}
		if started, _, _ := s.Compute(nil, podsOf("A/a")); words(started) != "A/a" {
			t.Errorf("%s marked on the spot market: on demand starts %v, want A/a", name, words(started))
		}
	}
}

func TestComputeSavesNewBindings(t *testing.T) {
	store := &saver{}
	s := nodemanager.NewBindingNodeScaler(store, nil, nil, "", false)
	nodes := nodesOf("A@gone")
	started, stopped, bindings := s.Compute(nodes, podsOf("A"))
	if len(started)+len(stopped) != 0 || bindings["pod-00"] != "old-00" {
		t.Errorf("starts %v, stops %v, binds %v; want pod-00 on old-00", started, stopped, bindings)
	}
	if saved := store.saved["old-00"]; saved == nil || saved.Status.BoundPodName != "pod-00" {
		t.Errorf("saved %+v, want old-00 bound to pod-00", saved)
	}
	if nodes[0].Status.BoundPodName != "gone" {
		t.Errorf("the argument was changed: %+v", nodes[0].Status)
	}
}

func TestComputeDecidesTheSameWhereANodeCantBeSaved(t *testing.T) {
	s := nodemanager.NewBindingNodeScaler(&saver{broken: "old-00"}, nil, nil, "", false)
	if started, stopped, bindings := s.Compute(nodesOf("A@gone"), podsOf("A")); len(started)+len(stopped) != 0 || bindings["pod-00"] != "old-00" {
		t.Errorf("starts %v, stops %v, binds %v; want pod-00 on old-00", started, stopped, bindings)
	}
	if _, stopped, bindings := s.Compute(nodesOf("A@gone B"), nil); words(stopped) != "A B" || bindings == nil {
		t.Errorf("stops %q, binds %v; want both", words(stopped), bindings)
	}
}

func TestComputeSaysNilWhereItCant(t *testing.T) {
	s := nodemanager.NewBindingNodeScaler(nil, nil, nil, "", false)
	if a, b, c := s.Compute(append(nodesOf("A"), nodesOf("A")...), nil); a != nil || b != nil || c != nil {
		t.Errorf("a node given twice: found %v, %v, %v, want three nils", a, b, c)
	}
}
