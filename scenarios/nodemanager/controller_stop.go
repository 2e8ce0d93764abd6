package nodemanager

import (
	"context"
	"fmt"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// stopNode puts a node in Terminating and returns; its instance is stopped and the node purged after that. To stop a
// node that is being stopped already does nothing. unless, if not nil, sees the node in the same step in which its phase
// changes, and its error keeps everything as it is.
func (c *NodeController) stopNode(name string, unless func(*api.Node) error) error {
	c.mu.Lock()
	if _, stopping := c.stops[name]; stopping {
		c.mu.Unlock()
		return nil
	}
	c.stops[name] = struct{}{}
	b := c.boots[name]
	c.mu.Unlock()

	node, err := c.NodeRegistry.Change(name, func(n *api.Node) error {
		if unless != nil {
			if err := unless(n); err != nil {
				return err
			}
		}
		n.Spec.Terminate = true
		n.Status.Phase = api.NodeTerminating
		return nil
	})
	if err != nil {
		c.stopped(name)
		return fmt.Errorf("stop node: %w", err)
	}
	c.NodeClientFactory.DeleteClient(node.Status.Addresses)
	if b != nil {
		b.cancel()
	}
	if !c.tasks.Run(func(ctx context.Context) { c.finishStop(ctx, name, b) }) {
		c.stopped(name) // the next controller resumes it
	}
	return nil
}

func (c *NodeController) stopped(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.stops, name)
}

// finishStop waits for a boot that is on its way, stops the instance and purges the node. When the controller ends
// before the instance is stopped, the node stays in Terminating.
func (c *NodeController) finishStop(ctx context.Context, name string, b *boot) {
	defer c.stopped(name)
	instance := ""
	if b != nil {
		c.tasks.Await(b.done) // it was cancelled, and ends with the controller as well
		instance = b.instance
	}
	node, err := c.NodeRegistry.GetNode(name)
	if err != nil {
		c.report(fmt.Errorf("stop node: %w", err))
	} else if node.Status.InstanceID != "" {
		instance = node.Status.InstanceID
	}
	if instance != "" && !c.stopInstance(ctx, name, instance) || node == nil {
		return
	}
	if instance == "" && ctx.Err() != nil {
		return // the start was cut off; the next controller looks again
	}
	if _, err := c.NodeRegistry.PurgeNode(node); err != nil {
		c.report(err)
	}
}

// stopInstance asks the cloud until it succeeds, and says whether it did before the controller ended.
func (c *NodeController) stopInstance(ctx context.Context, node, instance string) bool {
	for failures := 1; ; failures++ {
		err := c.CloudClient.StopInstance(ctx, instance)
		if err == nil {
			return true
		}
		c.report(fmt.Errorf("stop instance %s of node %s, attempt %d: %w", instance, node, failures, err))
		if !c.tasks.Pause(ctx, c.tuning.StopRetry.After(failures)) {
			return false
		}
	}
}
