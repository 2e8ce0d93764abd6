package nodemanager_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/nodemanager"
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// naivePlan decides like Plan, by looking at every node for every pod, and tells it in lines. New nodes have no names here.
func naivePlan(config nodemanager.ScalerConfig, nodes []*api.Node, pods []*api.Pod, now time.Time) []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	size := func(want string) string {
		if config.FixedSizeVolume && want != "" {
			return want
		}
		return config.DefaultVolumeSize
	}

	var waiting []*api.Pod
	for _, pod := range pods {
		if pod.Status.Phase == api.PodWaiting {
			waiting = append(waiting, pod)
		}
	}
	slices.SortFunc(waiting, func(a, b *api.Pod) int {
		if za, zb := a.Spec.Placement.AvailabilityZone != "", b.Spec.Placement.AvailabilityZone != ""; za != zb {
			if za {
				return -1
			}
			return 1
		}
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	var usable []*api.Node
	for _, node := range nodes {
		p := node.Status.Phase
		if (p == api.NodeCreating || p == api.NodeCreated || p == api.NodeAvailable) && !node.Spec.Terminate {
			usable = append(usable, node)
		}
	}
	slices.SortFunc(usable, func(a, b *api.Node) int { return cmp.Compare(a.Name, b.Name) })

	owner := map[string]string{} // node to pod
	served := map[string]bool{}
	for _, pod := range waiting {
		for _, node := range slices.Backward(usable) {
			if !served[pod.Name] && node.Status.BoundPodName == pod.Name {
				owner[node.Name], served[pod.Name] = pod.Name, true
				say("bind %s %s", pod.Name, node.Name)
			}
		}
	}
	usable = slices.DeleteFunc(usable, func(node *api.Node) bool { // its pod has a later one
		return owner[node.Name] == "" && served[node.Status.BoundPodName]
	})
	var pools []string
	for _, pod := range waiting {
		if served[pod.Name] {
			continue
		}
		found := false
		for _, node := range usable {
			volume, want := node.Spec.Resources.VolumeSize, pod.Spec.Resources.VolumeSize
			zone := pod.Spec.Placement.AvailabilityZone
			if owner[node.Name] == "" && node.Spec.InstanceType == pod.Spec.InstanceType &&
				node.Spec.Resources.PrivateIPOnly == pod.Spec.Resources.PrivateIPOnly &&
				(pod.Spec.Spot.Policy == api.SpotAlways && node.Spec.Spot ||
					pod.Spec.Spot.Policy == api.SpotNever && !node.Spec.Spot) &&
				(zone == "" || zone == node.Spec.Placement.AvailabilityZone) &&
				(!config.FixedSizeVolume || volume == want || want == "" && volume == config.DefaultVolumeSize) {
				owner[node.Name], found = pod.Name, true
				say("bind %s %s", pod.Name, node.Name)
				break
			}
		}
		spot := pod.Spec.Spot.Policy == api.SpotAlways
		private, zone := pod.Spec.Resources.PrivateIPOnly, pod.Spec.Placement.AvailabilityZone
		switch {
		case found:
		case config.Unavailable(pod.Spec.InstanceType, spot, private, zone, now):
			say("unmet %s", pod.Name)
		default:
			say("start %s %t %t %q %q for %s", pod.Spec.InstanceType, spot, private, zone,
				size(pod.Spec.Resources.VolumeSize), pod.Name)
		}
	}
	kept := map[string]bool{}
	for _, spec := range config.Standby {
		missing := spec.Count
		for _, node := range usable {
			if missing > 0 && owner[node.Name] == "" && !kept[node.Name] && node.Spec.InstanceType == spec.InstanceType &&
				node.Spec.Spot == spec.Spot && node.Spec.Resources.VolumeSize == config.DefaultVolumeSize {
				kept[node.Name] = true
				missing--
			}
		}
		if !config.Unavailable(spec.InstanceType, spec.Spot, false, "", now) {
			for range missing {
				pools = append(pools, fmt.Sprintf("start %s %t false \"\" %q for ", spec.InstanceType, spec.Spot, config.DefaultVolumeSize))
			}
		}
	}
	lines = append(lines, pools...)
	for _, node := range usable {
		idle := node.Status.IdleSince
		stop := false
		if owner[node.Name] != "" || kept[node.Name] {
			idle = time.Time{}
		} else if config.IdleGrace == 0 {
			stop = true
		} else if idle.IsZero() {
			idle = now
		} else if !now.Before(idle.Add(config.IdleGrace)) {
			stop = true
		}
		if owner[node.Name] != node.Status.BoundPodName || !idle.Equal(node.Status.IdleSince) {
			say("update %s %s %v", node.Name, owner[node.Name], idle)
		}
		if stop {
			say("stop %s", node.Name)
		}
	}
	slices.Sort(lines)
	return lines
}

// tell puts changes into the lines of the twin.
func tell(c nodemanager.Changes) []string {
	var lines []string
	fresh := map[string]bool{}
	for _, n := range c.Start {
		fresh[n.Name] = true
		lines = append(lines, fmt.Sprintf("start %s %t %t %q %q for %s", n.Spec.InstanceType, n.Spec.Spot,
			n.Spec.Resources.PrivateIPOnly, n.Spec.Placement.AvailabilityZone, n.Spec.Resources.VolumeSize, n.Status.BoundPodName))
	}
	for pod, node := range c.Bindings {
		if !fresh[node] {
			lines = append(lines, fmt.Sprintf("bind %s %s", pod, node))
		}
	}
	for _, u := range c.Unmet {
		lines = append(lines, "unmet "+u.Pod)
	}
	for _, n := range c.Update {
		lines = append(lines, fmt.Sprintf("update %s %s %v", n.Name, n.Status.BoundPodName, n.Status.IdleSince))
	}
	for _, n := range c.Stop {
		lines = append(lines, "stop "+n.Name)
	}
	slices.Sort(lines)
	return lines
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// situation makes a small crowded cluster, so that everything competes.
func situation(r *rand.Rand) (nodemanager.ScalerConfig, []*api.Node, []*api.Pod) {
	volume := func() string { return pick(r, "", "", "5G", "6G") }
	zone := func() string { return pick(r, "", "a", "b") }
	refusals := r.Uint64()
	config := nodemanager.ScalerConfig{
		DefaultVolumeSize: pick(r, "", "5G"), FixedSizeVolume: r.IntN(2) == 0, Seed: r.Uint64(),
		IdleGrace: pick(r, 0, time.Minute),
		Unavailable: func(kind string, spot, private bool, zone string, _ time.Time) bool {
			text := fmt.Sprint(kind, spot, private, zone)
			h := refusals
			for _, b := range []byte(text) {
				h = (h ^ uint64(b)) * 0x100000001b3
			}
			return h>>40%5 == 0
		},
	}
	for range r.IntN(4) {
		config.Standby = append(config.Standby, nodemanager.StandbyNodeSpec{
			InstanceType: pick(r, "A", "B"), Count: r.IntN(3), Spot: r.IntN(3) == 0,
		})
	}
	var pods []*api.Pod
	for i := range r.IntN(12) {
		pod := &api.Pod{ObjectMeta: api.ObjectMeta{
			Name: fmt.Sprintf("pod-%02d", i), CreationTimestamp: start.Add(time.Duration(r.IntN(4)) * time.Second),
		}}
		pod.Spec.InstanceType, pod.Spec.Placement.AvailabilityZone = pick(r, "A", "B"), zone()
		pod.Spec.Spot.Policy = pick(r, api.SpotNever, api.SpotNever, api.SpotAlways, "")
		pod.Spec.Resources = api.ResourceSpec{VolumeSize: volume(), PrivateIPOnly: r.IntN(4) == 0}
		pod.Status.Phase = pick(r, api.PodWaiting, api.PodWaiting, api.PodWaiting, api.PodRunning, api.PodFailed)
		pods = append(pods, pod)
	}
	var nodes []*api.Node
	for i := range r.IntN(14) {
		node := api.NewNode(fmt.Sprintf("old-%02d", i))
		node.Spec = api.NodeSpec{
			InstanceType: pick(r, "A", "B"), Terminate: r.IntN(10) == 0, Spot: r.IntN(3) == 0,
			Resources: api.ResourceSpec{VolumeSize: volume(), PrivateIPOnly: r.IntN(4) == 0},
			Placement: api.PlacementSpec{AvailabilityZone: zone()},
		}
		node.Status.Phase = pick(r, api.NodeCreating, api.NodeCreated, api.NodeAvailable, api.NodeAvailable, api.NodeClaimed)
		if r.IntN(2) == 0 {
			node.Status.BoundPodName = fmt.Sprintf("pod-%02d", r.IntN(14))
		}
		if r.IntN(3) == 0 {
			node.Status.IdleSince = start.Add(-time.Duration(r.IntN(120)) * time.Second)
		}
		nodes = append(nodes, node)
	}
	return config, nodes, pods
}

func copies[T any, P interface {
	*T
	DeepCopy() *T
}](list []P) []*T {
	var all []*T
	for _, item := range list {
		all = append(all, item.DeepCopy())
	}
	return all
}

func TestPlanEqualsNaivePlan(t *testing.T) {
	for seed := range uint64(2000) {
		compareWithNaivePlan(t, seed)
	}
}

func FuzzPlan(f *testing.F) {
	f.Add(uint64(1 << 40))
	f.Fuzz(compareWithNaivePlan)
}

// compareWithNaivePlan makes a situation of a seed, plans it, and holds the plan against the naive one, against itself in another
// order, and against what it would plan next.
func compareWithNaivePlan(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	config, nodes, pods := situation(r)
	nodesBefore, podsBefore := copies(nodes), copies(pods)
	s := nodemanager.NewScaler(config)
	c := mustPlan(t, s, nodes, pods, start)
	if diff := gocmp.Diff(naivePlan(config, nodes, pods, start), tell(c)); diff != "" {
		t.Fatalf("seed %d: (-twin +plan)\n%s", seed, diff)
	}
	if !gocmp.Equal(nodesBefore, nodes) || !gocmp.Equal(podsBefore, pods) {
		t.Fatalf("seed %d: the arguments were changed", seed)
	}

	// In any other order, the same to the letter.
	r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	if again := mustPlan(t, s, nodes, pods, start); !gocmp.Equal(c, again) {
		t.Fatalf("seed %d: another order gives other changes\n%s", seed, gocmp.Diff(c, again))
	}

	// Once it is done, there is nothing left to do.
	after := done(nodesBefore, c)
	rest := mustPlan(t, s, after, pods, start)
	if len(rest.Start)+len(rest.Stop)+len(rest.Update) != 0 || !gocmp.Equal(c.Bindings, rest.Bindings) {
		t.Fatalf("seed %d: done, and still to do: %+v\nbefore %+v", seed, tell(rest), tell(c))
	}
}

// done returns the nodes as they are when changes have been made.
func done(nodes []*api.Node, c nodemanager.Changes) []*api.Node {
	byName := map[string]*api.Node{}
	for _, list := range [][]*api.Node{nodes, c.Update, c.Start} {
		for _, node := range list {
			byName[node.Name] = node
		}
	}
	for _, node := range c.Stop {
		delete(byName, node.Name)
	}
	var after []*api.Node
	for _, node := range byName {
		after = append(after, node)
	}
	return after
}
