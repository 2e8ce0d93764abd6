package nodemanager

import (
	"context"
	"errors"
	"fmt"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloudinitfile"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
)

// A boot is a node on its way to Available. A caller that wants to stop the node cancels the boot, waits until it is done,
// and stops the instance then: a start that is on its way in the cloud can't be called back, only awaited.
type boot struct {
	node   string
	ctx    context.Context // ends with the controller, or when the boot is cancelled
	cancel context.CancelFunc
	done   chan struct{}

	// instance is what the cloud started and no registry could be told of; written before done is closed.
	instance string
}

// track notes a boot, or returns nil if that node boots already.
func (c *NodeController) track(node string) *boot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.boots[node]; ok {
		return nil
	}
	b := &boot{node: node, done: make(chan struct{})}
	b.ctx, b.cancel = context.WithCancel(c.tasks.Context())
	c.boots[node] = b
	return b
}

// untrack ends a boot, however it went.
func (c *NodeController) untrack(b *boot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.boots, b.node)
	b.cancel()
	close(b.done)
}

// startNodes creates nodes and boots them, each in a task of its own. It returns the names of those that were created.
// Without metadata none is; a node that can't be created is reported, and its pod has to wait for the next plan.
func (c *NodeController) startNodes(nodes []*api.Node, image string) (map[string]bool, error) {
	if len(nodes) == 0 {
		return nil, nil
	}
	metadata, err := c.metadata()
	if err != nil {
		return nil, fmt.Errorf("start %d nodes: %w", len(nodes), err)
	}
	created := make(map[string]bool, len(nodes))
	for _, node := range nodes {
		node = node.DeepCopy()
		if image != "" {
			node.Spec.BootImage = image
		}
		b := c.track(node.Name)
		if b == nil {
			c.report(fmt.Errorf("start node %s: a node of that name is booting: want a new name", node.Name))
			continue
		}
		node, err := c.NodeRegistry.CreateNode(node)
		if err != nil {
			c.untrack(b)
			c.report(fmt.Errorf("start node: %w", err))
			continue
		}
		created[node.Name] = true
		if !c.tasks.Run(func(ctx context.Context) { c.boot(ctx, b, node, metadata) }) {
			c.untrack(b) // the end has begun; the next controller stops what is in Creating
		}
	}
	return created, nil
}

// metadata is the user data that nodes of one iteration boot with.
func (c *NodeController) metadata() (string, error) {
	certificate, key, err := c.CertificateFactory.CreateCert()
	if err != nil {
		return "", err
	}
	return c.CloudInitFile.Contents(cloudinitfile.Values{
		ItzoVersion: c.Config.ItzoVersion, ItzoURL: c.Config.ItzoURL, Certificate: certificate, Key: key,
	})
}

// boot orders the instance of a node in Creating and brings it up. The start itself isn't cancelled with the boot, only
// with the controller.
func (c *NodeController) boot(ctx context.Context, b *boot, node *api.Node, metadata string) {
	defer c.untrack(b)
	start := c.CloudClient.StartNode
	if node.Spec.Spot {
		start = c.CloudClient.StartSpotNode
	}
	result, err := start(ctx, node.DeepCopy(), metadata)
	if err == nil && (result == nil || result.InstanceID == "") {
		err = errors.New("the cloud named no instance: want its id")
	}
	if err != nil {
		c.startFailed(ctx, node, fmt.Errorf("start node %s: %w", node.Name, err))
		return
	}
	saved, err := c.NodeRegistry.Change(node.Name, func(n *api.Node) error {
		n.Status.InstanceID = result.InstanceID
		if result.AvailabilityZone != "" {
			n.Spec.Placement.AvailabilityZone = result.AvailabilityZone
		}
		if n.Status.Phase == api.NodeCreating {
			n.Status.Phase = api.NodeCreated
		}
		return nil
	})
	switch {
	case err != nil:
		c.report(fmt.Errorf("keep instance %s: %w", result.InstanceID, err))
		c.dropInstance(ctx, b, result.InstanceID)
	case saved.Status.Phase == api.NodeCreated:
		c.emit(events.NodeCreated, saved, "")
		c.bringUp(b, saved)
	}
	// In any other phase it is being stopped, by somebody who waits for us.
}

// dropInstance stops an instance that the registry doesn't know: by the stop that waits for this boot, if there is one,
// else here.
func (c *NodeController) dropInstance(ctx context.Context, b *boot, instance string) {
	c.mu.Lock()
	_, stopping := c.stops[b.node]
	if stopping {
		b.instance = instance
	}
	c.mu.Unlock()
	if !stopping {
		c.stopInstance(ctx, b.node, instance)
	}
}

// startFailed remembers what the cloud refused, and purges a node that will never have an instance. A controller that
// ends leaves it in Creating for the next one.
func (c *NodeController) startFailed(ctx context.Context, node *api.Node, err error) {
	c.report(err)
	c.markUnavailable(node, err)
	if ctx.Err() != nil {
		return
	}
	c.observeFailure(node)
	c.mu.Lock()
	_, stopping := c.stops[node.Name]
	c.mu.Unlock()
	if stopping {
		return // which purges it as well
	}
	if _, err := c.NodeRegistry.PurgeNode(node); err != nil {
		c.report(err)
	}
}

// markUnavailable notes where and on which market there was no capacity: in a subnet if the cloud names one, else in a
// zone if it names that, else anywhere.
func (c *NodeController) markUnavailable(node *api.Node, err error) {
	if c.CloudStatus == nil {
		return
	}
	var capacity *cloud.NoCapacityError
	var unsupported *cloud.UnsupportedInstanceError
	switch {
	case errors.As(err, &capacity) && capacity.SubnetID != "":
		c.CloudStatus.AddUnavailableSubnet(capacity.SubnetID)
	case errors.As(err, &capacity) && capacity.AZ != "":
		c.CloudStatus.AddUnavailableZone(node.Spec.InstanceType, node.Spec.Spot, capacity.AZ)
	case errors.As(err, &capacity):
		c.CloudStatus.AddUnavailableInstance(node.Spec.InstanceType, node.Spec.Spot)
	case errors.As(err, &unsupported):
		c.CloudStatus.AddUnavailableInstance(node.Spec.InstanceType, true)
	}
}

func (c *NodeController) observeFailure(node *api.Node) {
	if observer, ok := c.NodeScaler.(BootObserver); ok {
		observer.BootFailed(node.Spec.InstanceType, node.Spec.Spot, c.Clock.Now())
	}
}
