package controllers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

func TestANewNodeIsInitialized(t *testing.T) {
	c := newControl(t, "1.34")
	controllers.NewCloudNode(c.Env, controllers.CloudNodeConfig{Initialize: func(i *cloud.Instance, n *kube.Node) {
		n.Labels = n.Labels.With("topology.kubernetes.io/zone", i.Zone)
		n.Addresses = append(n.Addresses, kube.Address{Type: "ExternalIP", Address: "203.0.113.7"})
	}})
	i := c.Cloud.Seed(c.group, "a")
	n := &kube.Node{
		Meta: kube.Meta{Name: i.Name}, Conditions: conditions(c.API.Now(), "False"),
		Taints:    []kube.Taint{{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: "NoSchedule"}},
		Addresses: []kube.Address{{Type: "InternalIP", Address: "10.0.0.1"}},
	}
	if err := c.API.CreateNode(n); err != nil {
		t.Fatal(err)
	}
	from := len(c.lines)
	c.to(t, 4*time.Second)
	var got []string
	for _, l := range c.lines[from:] {
		got = append(got, l.verb+" "+l.resource+" "+strings.Split(l.json, `"reason"`)[0])
	}
	same(t, "writes", got, []string{
		`MODIFIED nodes {"metadata":{"labels":{"topology.kubernetes.io/zone":"a"}},"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]}}`,
		`MODIFIED nodes {"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"ExternalIP","address":"203.0.113.7"}]}}`,
		`ADDED events {"metadata":{"creationTimestamp":"` + c.API.Now().Add(c.lines[from].at-c.Now()).Time().Format(time.RFC3339) + `"},"involvedObject":{"kind":"Node","name":"node-0","uid":"uid-1","apiVersion":"v1","resourceVersion":"1"},`,
	})
	same(t, "events", c.said(from), []string{"Normal Synced node-0: Node synced successfully [cloud-node-controller]"})
}

// TestNodesWithoutInstancesGo: the provider is asked of nodes that aren't Ready
// only, and what has a finalizer is asked of again and again.
func TestNodesWithoutInstancesGo(t *testing.T) {
	for version, quirk := range map[string]string{"1.34": `"uid":"uid-1"}`, "1.36": `"uid":"uid-1","apiVersion":"v1"}`} {
		c := newControl(t, version)
		controllers.NewCloudNode(c.Env, controllers.CloudNodeConfig{})
		lost := c.Cloud.Seed(c.group, "a")
		hidden := c.Cloud.Seed(c.group, "a")
		n := c.node(lost.Name, "a")
		cut := c.node(hidden.Name, "a")
		c.to(t, time.Second)
		c.Cloud.Kill(lost, false)
		c.Cloud.Kill(hidden, true)
		c.to(t, 30*time.Second)
		if n.Gone() {
			t.Fatal("a Ready node is deleted")
		}
		from := len(c.lines)
		c.post(n, "Unknown")
		c.post(cut, "Unknown")
		c.to(t, 36*time.Second)
		same(t, "events", c.said(from), []string{"Normal DeletingNode node-0: Deleting node node-0 because it does not exist in the cloud provider [cloud-node-lifecycle-controller]"})
		if !n.Gone() || cut.Gone() || c.first(from, "DeletingNode", quirk) != c.first(from, "DELETED nodes node-0") {
			t.Errorf("%s: gone %t and %t: want the one whose instance is gone, with its event", version, n.Gone(), cut.Gone())
		}
	}
}
