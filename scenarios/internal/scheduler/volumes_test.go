package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// mounting creates a pod with claims, of some importance.
func mounting(t *testing.T, c *placing.Cluster, name string, priority int32, claims ...string) *kube.Pod {
	t.Helper()
	p := &kube.Pod{
		Meta: kube.Meta{Namespace: "shop", Name: name}, Phase: "Pending", Claim: claims[0], OtherClaims: claims[1:],
		Template: &kube.Template{Containers: []kube.ContainerSpec{{Name: "c", Image: "c:1", CPU: 10}}, Priority: priority},
	}
	if err := c.API.CreatePod(p); err != nil {
		t.Fatal(err)
	}
	c.RunTo(t, c.Now()+time.Second)
	return p
}

const fullOfVolumes = "0/1 nodes are available: 1 node(s) exceed max volume count."

// A node takes as many volumes as its CSINode, or else its status, says. Pods may share one.
func TestANodeTakesSoManyVolumes(t *testing.T) {
	for what, limit := range map[string]func(c *placing.Cluster, n *kube.Node){
		"CSINode": func(c *placing.Cluster, n *kube.Node) { c.Scheduler.VolumeLimit(n.Name, 2) },
		"status": func(c *placing.Cluster, n *kube.Node) {
			c.API.UpdateNode(n, func(n *kube.Node) { n.Allocatable = n.Allocatable.With("attachable-volumes-csi-ebs.csi.aws.com", "2") })
		},
	} {
		c := placing.New(t, "1.36", true)
		limit(c, c.Node("n1", "a"))
		one, same := mounting(t, c, "one", 0, "x"), mounting(t, c, "same", 0, "x", "x")
		if where(one) != "n1" || where(same) != "n1" {
			t.Errorf("%s: %s and %s, want both on n1", what, where(one), where(same))
		}
		two := mounting(t, c, "two", 0, "y", "z")
		if where(two) != fullOfVolumes {
			t.Errorf("%s: %s, want %s", what, where(two), fullOfVolumes)
		}
		if last := mounting(t, c, "last", 0, "y"); where(last) != "n1" {
			t.Errorf("%s: %s, want n1", what, where(last))
		}
		// A volume is free once the last of its pods is gone.
		c.API.DeletePod(one, 0)
		if more := mounting(t, c, "more", 0, "w"); where(more) != fullOfVolumes {
			t.Errorf("%s: %s, want %s", what, where(more), fullOfVolumes)
		}
		c.API.DeletePod(same, 0)
		c.RunTo(t, c.Now()+time.Minute)
		if more := c.API.Pod("shop", "more"); where(more) != "n1" {
			t.Errorf("%s: %s, want n1 as its volume fits", what, where(more))
		}
	}
}

// A limit that is lifted lets pods in that wait, and a more important pod takes the place of one with a volume.
func TestVolumesMakeRoom(t *testing.T) {
	c := placing.New(t, "1.36", true)
	c.Node("n1", "a")
	c.Scheduler.VolumeLimit("n1", 1)
	first, waits := mounting(t, c, "first", 0, "x"), mounting(t, c, "waits", 0, "y")
	urgent := mounting(t, c, "urgent", 100, "z")
	c.RunTo(t, c.Now()+time.Minute)
	if !first.Gone() || where(urgent) != "n1" || where(waits) != fullOfVolumes {
		t.Errorf("first is gone: %t, urgent %s, waits %s", first.Gone(), where(urgent), where(waits))
	}
	c.Scheduler.VolumeLimit("n1", -1)
	c.RunTo(t, c.Now()+time.Minute)
	if where(waits) != "n1" {
		t.Errorf("%s, want n1 without a limit", where(waits))
	}
}

// Every volume of a pod keeps it in its zone, but one that can be reached from all.
func TestEachVolumeHasItsZone(t *testing.T) {
	c := placing.New(t, "1.36", true)
	for _, zone := range []string{"a", "b"} {
		c.Node(zone+"1", zone)
		c.Scheduler.Volume(scheduler.ClaimName{Namespace: "shop", Name: "in-" + zone}, zone)
	}
	c.Scheduler.Volume(scheduler.ClaimName{Namespace: "shop", Name: "anywhere"}, "")
	const nowhere = "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity."
	for i, test := range []struct {
		claims []string
		want   string
	}{
		{[]string{"anywhere", "in-b"}, "b1"},
		{[]string{"anywhere", "in-a"}, "a1"},
		{[]string{"in-a", "in-b"}, nowhere},
	} {
		if p := mounting(t, c, fmt.Sprint("p", i), 0, test.claims...); where(p) != test.want {
			t.Errorf("%v: %s, want %s", test.claims, where(p), test.want)
		}
	}
}

// What requests nothing fits where more is requested than there is.
func TestRequestsOfNothingFitAnywhere(t *testing.T) {
	c := placing.New(t, "1.36", true)
	n := c.Node("n1", "a")
	mounting(t, c, "first", 0, "x")
	c.API.UpdateNode(n, func(n *kube.Node) { n.Allocatable = n.Allocatable.With("cpu", "5m") })
	free := &kube.Pod{Meta: kube.Meta{Namespace: "shop", Name: "free"}, Phase: "Pending", Template: &kube.Template{Containers: []kube.ContainerSpec{{Name: "c", Image: "c:1"}}}}
	if err := c.API.CreatePod(free); err != nil {
		t.Fatal(err)
	}
	c.RunTo(t, c.Now()+time.Second)
	if small := mounting(t, c, "small", 0, "y"); where(free) != "n1" || where(small) != "0/1 nodes are available: 1 Insufficient cpu." {
		t.Errorf("%s and %s", where(free), where(small))
	}
}
