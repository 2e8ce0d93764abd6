package nodemanager

import (
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

func TestMarketFits(t *testing.T) {
	for _, c := range []struct {
		policy api.SpotPolicy
		spot   bool
		want   bool
	}{
		{api.SpotNever, false, true},
		{api.SpotNever, true, false},
		{api.SpotAlways, true, true},
		{api.SpotAlways, false, false},
		{"", false, false},
		{"Sometimes", true, false},
	} {
		if got := marketFits(c.spot, c.policy); got != c.want {
			t.Errorf("policy %q, spot %t: found %t, want %t", c.policy, c.spot, got, c.want)
		}
	}
}

func TestVolumesFit(t *testing.T) {
	for _, c := range []struct {
		fixed     bool
		node, pod string
		want      bool
	}{
		{true, "5G", "5G", true},
		{true, "5G", "", true},
		{true, "6G", "5G", false},
		{true, "6G", "", false},
		{true, "", "", true},
		{false, "6G", "5G", true},
		{false, "6G", "", true},
	} {
		node, pod := api.NewNode("n"), &api.Pod{}
		pod.Spec.Spot.Policy = api.SpotNever
		node.Spec.Resources.VolumeSize, pod.Spec.Resources.VolumeSize = c.node, c.pod
		config := &ScalerConfig{DefaultVolumeSize: "5G", FixedSizeVolume: c.fixed}
		if got := fits(node, pod, config); got != c.want {
			t.Errorf("fixed %t, node %q, pod %q: found %t, want %t", c.fixed, c.node, c.pod, got, c.want)
		}
		if got := slices.Contains(config.kindsFor(pod), config.kindOf(&node.Spec)); got != c.want {
			t.Errorf("fixed %t, node %q, pod %q: the kinds say %t, want %t", c.fixed, c.node, c.pod, got, c.want)
		}
	}
}

// planWith is a plan of nothing, to make nodes with.
func planWith(t *testing.T, config ScalerConfig) *plan {
	t.Helper()
	p, err := NewScaler(config).newPlan(nil, nil, time.Unix(0, 0), newNamer(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestANewNodeFitsItsPod(t *testing.T) {
	pod := &api.Pod{}
	pod.Name, pod.Spec.InstanceType, pod.Spec.Placement.AvailabilityZone = "p", "A", "a"
	pod.Spec.Spot.Policy, pod.Spec.Resources = api.SpotAlways, api.ResourceSpec{CPU: "2", PrivateIPOnly: true}
	config := ScalerConfig{DefaultVolumeSize: "5G", FixedSizeVolume: true, BootImage: "image-1"}
	node := planWith(t, config).nodeFor(pod)
	if !fits(node, pod, &config) {
		t.Errorf("node %+v doesn't fit the pod that it was made for", node.Spec)
	}
	if node.Spec.Resources.CPU != "2" || node.Spec.BootImage != "image-1" || node.Status.BoundPodName != "p" ||
		node.Status.Phase != api.NodeCreating {
		t.Errorf("found %+v, want the pod's resources, the image, the binding, and Creating", node)
	}
	for name, change := range map[string]func(*api.Node){
		"type":       func(n *api.Node) { n.Spec.InstanceType = "B" },
		"zone":       func(n *api.Node) { n.Spec.Placement.AvailabilityZone = "b" },
		"private IP": func(n *api.Node) { n.Spec.Resources.PrivateIPOnly = false },
		"market":     func(n *api.Node) { n.Spec.Spot = false },
		"volume":     func(n *api.Node) { n.Spec.Resources.VolumeSize = "6G" },
	} {
		other := node.DeepCopy()
		change(other)
		if fits(other, pod, &config) {
			t.Errorf("another %s: found a fit, want none", name)
		}
	}
	pod.Spec.Placement.AvailabilityZone = ""
	if !fits(node, pod, &config) {
		t.Error("a pod without a zone: found no fit, want one")
	}
}

func TestVolumesOfNewNodes(t *testing.T) {
	for _, c := range []struct {
		fixed     bool
		pod, want string
	}{{false, "", "5G"}, {false, "10G", "5G"}, {true, "", "5G"}, {true, "10G", "10G"}} {
		pod := &api.Pod{}
		pod.Spec.Resources.VolumeSize = c.pod
		node := planWith(t, ScalerConfig{DefaultVolumeSize: "5G", FixedSizeVolume: c.fixed}).nodeFor(pod)
		if got := node.Spec.Resources.VolumeSize; got != c.want {
			t.Errorf("fixed %t, pod %q: found %q, want %q", c.fixed, c.pod, got, c.want)
		}
	}
}

func TestNoNodeOfARefusedType(t *testing.T) {
	config := ScalerConfig{Unavailable: func(_ string, spot, _ bool, _ string, _ time.Time) bool { return spot }}
	for policy, want := range map[api.SpotPolicy]int{api.SpotAlways: 0, api.SpotNever: 1} {
		pod := &api.Pod{}
		pod.Name, pod.Status.Phase, pod.Spec.Spot.Policy = "p", api.PodWaiting, policy
		changes, err := NewScaler(config).Plan(nil, []*api.Pod{pod}, time.Unix(0, 0))
		if err != nil || len(changes.Start) != want || len(changes.Unmet) != 1-want {
			t.Errorf("%s: found %+v, %v, want %d nodes to start", policy, changes, err, want)
		}
	}
}

func TestPoolsTakeEqualNodesOnly(t *testing.T) {
	for name, change := range map[string]func(*api.Node){
		"volume": func(n *api.Node) { n.Spec.Resources.VolumeSize = "6G" },
		"spot":   func(n *api.Node) { n.Spec.Spot = true },
		"type":   func(n *api.Node) { n.Spec.InstanceType = "B" },
		"":       func(*api.Node) {},
	} {
		node := api.NewNode("n")
		node.Spec.InstanceType, node.Spec.Resources.VolumeSize = "A", "5G"
		change(node)
		s := NewScaler(ScalerConfig{
			Standby: []StandbyNodeSpec{{InstanceType: "A", Count: 1}}, DefaultVolumeSize: "5G",
		})
		changes, err := s.Plan([]*api.Node{node}, nil, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if name == "" {
			want = 0
		}
		if len(changes.Start) != want || len(changes.Stop) != want {
			t.Errorf("another %q: starts %d, stops %d, want %d of each", name, len(changes.Start), len(changes.Stop), want)
		}
	}
}

// fits says whether a free node serves a pod: equal types, equal PrivateIPOnly, the market that the pod's policy wants,
// the pod's zone if it names one, and a volume of the right size where volumes are fixed.
func fits(node *api.Node, pod *api.Pod, config *ScalerConfig) bool {
	zone := pod.Spec.Placement.AvailabilityZone
	return node.Spec.InstanceType == pod.Spec.InstanceType &&
		node.Spec.Resources.PrivateIPOnly == pod.Spec.Resources.PrivateIPOnly &&
		marketFits(node.Spec.Spot, pod.Spec.Spot.Policy) &&
		(zone == "" || zone == node.Spec.Placement.AvailabilityZone) &&
		(!config.FixedSizeVolume || slices.Contains(
			volumes(pod, config), node.Spec.Resources.VolumeSize))
}

// marketFits says whether a policy is content with a node of the spot market, or with one that isn't.
func marketFits(spot bool, policy api.SpotPolicy) bool {
	return policy == api.SpotAlways && spot || policy == api.SpotNever && !spot
}
