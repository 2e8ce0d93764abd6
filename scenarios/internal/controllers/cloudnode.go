package controllers

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// CloudNode is the cloud controller manager's two controllers of nodes
// (k8s.io/cloud-provider/controllers/node and nodelifecycle): one fills in what
// the provider knows of a new node and removes the taint that says that this is
// still to be done, the other deletes nodes whose instances are gone.
type CloudNode struct {
	env    *component.Env
	cfg    CloudNodeConfig
	chance model.Stream
	// order numbers the nodes as they have come, and unready are those that a look finds not Ready.
	order   map[*kube.Node]int
	come    int
	unready map[*kube.Node]bool
}

// CloudNodeConfig holds the provider's part of the controllers.
type CloudNodeConfig struct {
	// Initialize fills in the labels and addresses of a node's instance.
	Initialize func(*cloud.Instance, *kube.Node)
}

// NewCloudNode starts the controllers.
func NewCloudNode(env *component.Env, cfg CloudNodeConfig) *CloudNode {
	c := &CloudNode{env: env, cfg: cfg, chance: env.Stream("cloud-node"), order: map[*kube.Node]int{}, unready: map[*kube.Node]bool{}}
	for _, n := range env.API.Nodes() {
		c.note(kube.Added, n)
	}
	env.API.WatchNodes(func(change kube.Change, _, n *kube.Node) {
		c.note(change, n)
		if change == kube.Added && n.HasTaint(component.TaintUninitialized, "") {
			env.After(env.Draw(&c.chance, env.Timings.CloudInitialize), func() { c.initialize(n) })
		}
	})
	period := max(env.Timings.CloudNodePeriod.Median(), time.Millisecond)
	var look func()
	look = func() {
		c.look()
		env.After(period, look)
	}
	env.After(time.Duration(c.chance.N(uint64(period))), look)
	return c
}

// note remembers which nodes aren't Ready, so that a look at a large cluster takes no time.
func (c *CloudNode) note(change kube.Change, n *kube.Node) {
	switch change {
	case kube.Deleted:
		delete(c.order, n)
	case kube.Added:
		c.order[n] = c.come
		c.come++
	}
	if change == kube.Deleted || n.Ready() {
		delete(c.unready, n)
	} else {
		c.unready[n] = true
	}
}

// initialize is syncNode: one update adds the labels and removes the taint, and
// where addresses are others than the kubelet's, a second one writes the status.
func (c *CloudNode) initialize(n *kube.Node) {
	i := c.env.Cloud.ByNode(n.Name)
	if n.Gone() || i == nil || !n.HasTaint(component.TaintUninitialized, "") {
		return
	}
	about := kube.AboutNode(n)
	about.ResourceVersion = strconv.FormatUint(n.Version(), 10) // as it was before
	addresses := n.Addresses
	c.env.API.UpdateNode(n, func(n *kube.Node) {
		n.RemoveTaint(component.TaintUninitialized, "")
		if c.cfg.Initialize != nil {
			c.cfg.Initialize(i, n)
		}
		addresses, n.Addresses = n.Addresses, addresses
	})
	c.env.API.UpdateNode(n, func(n *kube.Node) { n.Addresses = addresses })
	c.env.API.Record(kube.Source{Component: "cloud-node-controller"}, about, "Normal", "Synced", "Node synced successfully")
}

// look is MonitorNodes: of nodes that aren't Ready it asks the provider whether
// their instances exist; no instance is ever shut down and kept here. A node that a
// finalizer holds is deleted again at every look, and stays.
func (c *CloudNode) look() {
	if len(c.unready) == 0 {
		return
	}
	nodes := slices.SortedFunc(maps.Keys(c.unready), func(a, b *kube.Node) int { return c.order[a] - c.order[b] })
	for _, n := range nodes {
		i := c.env.Cloud.ByNode(n.Name)
		if i == nil || i.State == cloud.Terminated && !i.Hidden {
			about := kube.AboutNode(n)
			if c.env.Version.Minor < 36 {
				about.APIVersion = "" // which newer ones fill in
			}
			c.env.API.Record(kube.Source{Component: "cloud-node-lifecycle-controller"}, about, "Normal", "DeletingNode",
				"Deleting node "+n.Name+" because it does not exist in the cloud provider")
			c.env.API.DeleteNode(n)
		}
	}
}
