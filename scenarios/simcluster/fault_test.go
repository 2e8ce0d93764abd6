package simcluster_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
)

func nodesOf(t testing.TB, k kubernetes.Interface) []corev1.Node {
	t.Helper()
	list, err := k.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func readyNodes(t testing.TB, k kubernetes.Interface) (names []string) {
	t.Helper()
	for _, n := range nodesOf(t, k) {
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

// Go values give a cluster of named groups and nothing else.
func TestGroupsOfNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{KubernetesVersion: "1.36"},
			spec.Group{Name: "workers", Nodes: 3, Labels: map[string]string{"team": "a"}, Taints: []spec.Taint{{Key: "gpu", Value: "yes", Effect: "NoSchedule"}}},
			spec.Group{Name: "spot", Nodes: 2, CapacityType: spec.CapacitySpot, Zones: []string{"eu-central-1b"}},
			spec.Group{Name: "none"}))
		c.Start()
		k := clients(t, c)
		got := map[string]int{}
		for _, n := range nodesOf(t, k) {
			got[n.Labels["eks.amazonaws.com/nodegroup"]]++
			if minor := n.Status.NodeInfo.KubeletVersion; !strings.HasPrefix(minor, "v1.36.") {
				t.Errorf("%s runs %s", n.Name, minor)
			}
			switch n.Labels["eks.amazonaws.com/nodegroup"] {
			case "workers":
				if n.Labels["team"] != "a" || len(n.Spec.Taints) != 1 {
					t.Errorf("%s: %v, %v", n.Name, n.Labels, n.Spec.Taints)
				}
			case "spot":
				if n.Labels[corev1.LabelTopologyZone] != "eu-central-1b" {
					t.Errorf("%s: %v", n.Name, n.Labels)
				}
			}
		}
		if len(got) != 2 || got["workers"] != 3 || got["spot"] != 2 {
			t.Errorf("nodes by group: %v", got)
		}
		sound(t, c)
	})
	_, err := simcluster.New(simcluster.Groups(spec.Cluster{Provider: "eks"}, spec.Group{Name: "Workers", Nodes: 1}))
	if err == nil || !strings.Contains(err.Error(), "groups: groups[0].name: \"Workers\"") {
		t.Error(err)
	}
}

// A test takes machines away, and the cluster makes up for them.
func TestATestDoesFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{}, spec.Group{Name: "workers", Nodes: 3, CapacityType: spec.CapacitySpot}))
		c.Start()
		k := clients(t, c)
		there := func(name string) bool {
			for _, n := range nodesOf(t, k) {
				if n.Name == name {
					return true
				}
			}
			return false
		}
		replaced := func(name string) {
			t.Helper()
			c.Eventually(20*time.Minute, "another node in place of "+name, func() bool { return !there(name) && len(readyNodes(t, k)) == 3 })
		}
		first := nodesOf(t, k)[0].Name
		if err := c.Interrupt(first); err != nil {
			t.Fatal(err)
		}
		replaced(first)
		second := nodesOf(t, k)[0].Name
		if err := c.Vanish(second); err != nil {
			t.Fatal(err)
		}
		replaced(second)
		// What a fault writes shows at once.
		third := nodesOf(t, k)[0]
		if err := c.Do(spec.Fault{Cordon: &spec.Victims{Node: third.Name}}); err != nil {
			t.Fatal(err)
		}
		if n, err := k.CoreV1().Nodes().Get(t.Context(), third.Name, metav1.GetOptions{}); err != nil || !n.Spec.Unschedulable {
			t.Error(err, "isn't cordoned")
		}
		if err := c.Lose(third.Labels[corev1.LabelTopologyZone]); err != nil {
			t.Fatal(err)
		}
		c.Eventually(10*time.Minute, "the zone's node to fall silent", func() bool { return len(readyNodes(t, k)) < 3 })
		for _, bad := range []struct {
			fault spec.Fault
			want  string
		}{
			{spec.Fault{Vanish: &spec.Vanish{Victims: spec.Victims{Node: first}}}, `fault: vanish: found no node that it could hit, node "` + first + `"`},
			{spec.Fault{Reboot: &spec.Victims{Group: "wrokers"}}, `fault: reboot.group: no group "wrokers"; did you mean workers?`},
			{spec.Fault{}, "fault: no action: want one action"},
			{spec.Fault{Mark: &spec.Mark{Name: "a"}, Cordon: &spec.Victims{}}, "more than one action"},
			{spec.Fault{At: new(time.Duration), Mark: &spec.Mark{Name: "a"}}, "fault: a trigger, or if: want neither"},
		} {
			if err := c.Do(bad.fault); err == nil || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("%v: want %s", err, bad.want)
			}
		}
		sound(t, c)
	})
}
