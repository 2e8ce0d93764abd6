package nodemanager

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// runPool is one turn of the pool loop. What fails leaves the old bindings in place.
func (c *NodeController) runPool(ctx context.Context) {
	c.PoolLoopTimer.StartLoop()
	defer c.PoolLoopTimer.EndLoop()
	bindings, err := c.doPool(ctx)
	if err != nil {
		c.report(fmt.Errorf("pool loop: %w", err))
		return
	}
	select { // the dispatch loop has to know the newest alone
	case <-c.bindings:
	default:
	}
	c.bindings <- bindings
}

// doPool plans, saves, starts and stops, and returns the bindings to nodes that exist.
func (c *NodeController) doPool(ctx context.Context) (map[string]string, error) {
	nodes, err := c.NodeRegistry.ListNodes(nil)
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	pods, err := c.PodReader.ListPods((*api.Pod).Live)
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	image, err := c.resolveImage(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := c.decide(nodes.Items, pods.Items)
	if err != nil {
		return nil, err
	}
	changes = changes.LimitBoots(c.tuning.MaxBootPerIteration, c.chance)
	seen := make(map[string]api.NodeStatus, len(nodes.Items))
	for _, node := range nodes.Items {
		seen[node.Name] = node.Status
	}
	for _, node := range changes.Update {
		if err := c.saveBinding(node, seen[node.Name].BoundPodName); err != nil {
			c.report(err)
			changes = changes.without(node)
		}
	}
	created, err := c.startNodes(changes.Start, image)
	if err != nil {
		c.report(err) // old nodes are still handed out and stopped
	}
	for _, node := range changes.Stop {
		c.report(c.stopNode(node.Name, func(n *api.Node) error { return stillFree(n, node.Status.BoundPodName) }))
	}
	return changes.Publish(func(name string) bool { return created[name] }), nil
}

// decide asks for a plan, or, of an algorithm that has none, for its result.
func (c *NodeController) decide(nodes []*api.Node, pods []*api.Pod) (Changes, error) {
	if planner, ok := c.NodeScaler.(Planner); ok {
		return planner.Plan(nodes, pods, c.Clock.Now())
	}
	start, stop, bindings := c.NodeScaler.Compute(nodes, pods)
	if bindings == nil {
		return Changes{}, errors.New("the scaling algorithm returned no bindings: want a map, empty if there are none")
	}
	missing := func(n *api.Node) bool { return n == nil }
	return Changes{
		Start: slices.DeleteFunc(start, missing), Stop: slices.DeleteFunc(stop, missing), Bindings: bindings,
	}, nil
}

// saveBinding saves what a plan says of a node, unless somebody took the node meanwhile.
func (c *NodeController) saveBinding(planned *api.Node, before string) error {
	_, err := c.NodeRegistry.Change(planned.Name, func(n *api.Node) error {
		if err := stillFree(n, before); err != nil {
			return err
		}
		n.Status.BoundPodName, n.Status.IdleSince = planned.Status.BoundPodName, planned.Status.IdleSince
		return nil
	})
	if err != nil {
		return fmt.Errorf("save a binding: %w", err)
	}
	return nil
}

// stillFree says why a plan doesn't hold any more for a node.
func stillFree(n *api.Node, boundTo string) error {
	if !n.Status.Phase.Usable() || n.Status.BoundPodName != boundTo {
		return fmt.Errorf("it is %s and bound to %q: the plan saw it free or booting, and bound to %q",
			n.Status.Phase, n.Status.BoundPodName, boundTo)
	}
	return nil
}

// resolveImage returns the image that new nodes boot from: the cached one, else the one that the cloud finds now, else
// the last one that was found.
func (c *NodeController) resolveImage(ctx context.Context) (string, error) {
	if len(c.BootImageSpec) == 0 {
		return c.image, nil
	}
	key := c.BootImageSpec.String()
	if cached, ok := c.ImageIdCache.Get(key); ok {
		if image, ok := cached.(string); ok {
			return image, nil
		}
	}
	image, err := c.CloudClient.GetImageID(ctx, c.BootImageSpec)
	if err == nil && image == "" {
		err = errors.New("the cloud named no image: want its id")
	}
	if err != nil {
		err = fmt.Errorf("resolve boot image %s: %w", key, err)
		if c.image == "" {
			return "", err
		}
		c.report(err)
		return c.image, nil
	}
	c.image = image
	c.ImageIdCache.Add(key, image, c.tuning.ImageTTL)
	return image, nil
}
