package nodemanager

import (
	"context"
	"errors"
	"fmt"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
)

// bringUp takes a node from Created to Available: its instance runs, then its agent answers. Each may take BootTimeout;
// after that, or when the cloud gives up, the node is stopped. A boot that is cancelled leaves the node as it is.
func (c *NodeController) bringUp(b *boot, node *api.Node) {
	running, cancel := c.tasks.Within(b.ctx, c.tuning.BootTimeout)
	addresses, err := c.CloudClient.WaitForRunning(running, node.DeepCopy())
	cancel()
	if b.ctx.Err() != nil {
		return
	}
	if err == nil && len(addresses) == 0 {
		err = errors.New("the cloud named no address: want at least one")
	}
	if err != nil {
		c.bringUpFailed(node, fmt.Errorf("wait for instance %s of node %s: %w", node.Status.InstanceID, node.Name, err))
		return
	}
	node, err = c.NodeRegistry.Change(node.Name, func(n *api.Node) error {
		if n.Status.Phase != api.NodeCreated {
			return fmt.Errorf("phase %q: want %q", n.Status.Phase, api.NodeCreated)
		}
		n.Status.Addresses = addresses
		return nil
	})
	if err != nil {
		c.report(err) // somebody stops it
		return
	}
	c.emit(events.NodeRunning, node, "")
	if err := c.awaitAgent(b, node); err != nil {
		c.bringUpFailed(node, err)
	}
}

// awaitAgent asks the agent until it answers, and makes the node Available. It returns nil as well when the boot was
// cancelled.
func (c *NodeController) awaitAgent(b *boot, node *api.Node) error {
	client := c.NodeClientFactory.GetClient(node.Status.Addresses)
	ctx, cancel := c.tasks.Within(b.ctx, c.tuning.BootTimeout)
	defer cancel()
	for {
		err := client.Healthcheck(ctx)
		if b.ctx.Err() != nil {
			return nil
		}
		if err == nil {
			break
		}
		if !c.tasks.Pause(ctx, c.tuning.HealthcheckPause) {
			if b.ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("node %s didn't answer within %s: %w", node.Name, c.tuning.BootTimeout, err)
		}
	}
	c.beat(node.Name)
	_, err := c.NodeRegistry.Change(node.Name, func(n *api.Node) error {
		if n.Status.Phase != api.NodeCreated {
			return fmt.Errorf("phase %q: want %q", n.Status.Phase, api.NodeCreated)
		}
		n.Status.Phase = api.NodeAvailable
		return nil
	})
	if err != nil {
		c.report(err) // somebody stops it
		return nil
	}
	if observer, ok := c.NodeScaler.(BootObserver); ok {
		observer.BootSucceeded(node.Spec.InstanceType, node.Spec.Spot, c.Clock.Now())
	}
	return nil
}

func (c *NodeController) bringUpFailed(node *api.Node, err error) {
	c.report(err)
	c.observeFailure(node)
	c.report(c.stopNode(node.Name, nil))
}

// StopCreatingNodes stops the nodes in Creating that no boot of this controller is about: an earlier one was ended while
// it ordered them, and nobody knows their instances.
func (c *NodeController) StopCreatingNodes() {
	if err := c.resumes(); err != nil {
		c.report(err)
		return
	}
	for _, node := range c.left(api.NodeCreating) {
		c.report(c.stopNode(node.Name, nil))
	}
}

// ResumeWaits goes on where an earlier controller was ended: nodes in Created are brought up, those in Cleaning cleaned,
// those in Terminating stopped.
func (c *NodeController) ResumeWaits() {
	if err := c.resumes(); err != nil {
		c.report(err)
		return
	}
	for _, node := range c.left(api.NodeCreated) {
		if b := c.track(node.Name); b != nil {
			resume := func(context.Context) {
				defer c.untrack(b)
				c.bringUp(b, node)
			}
			if !c.tasks.Run(resume) {
				c.untrack(b)
			}
		}
	}
	for _, node := range c.left(api.NodeCleaning) {
		c.clean(node)
	}
	for _, node := range c.left(api.NodeTerminating) {
		c.report(c.stopNode(node.Name, nil))
	}
}

// left returns the nodes in a phase that this controller isn't busy with.
func (c *NodeController) left(phase api.NodePhase) []*api.Node {
	list, err := c.NodeRegistry.ListNodes(func(n *api.Node) bool { return n.Status.Phase == phase })
	if err != nil {
		c.report(fmt.Errorf("list nodes in phase %s: %w", phase, err))
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var idle []*api.Node
	for _, node := range list.Items {
		_, stopping := c.stops[node.Name]
		if _, booting := c.boots[node.Name]; !booting && !stopping {
			idle = append(idle, node)
		}
	}
	return idle
}
