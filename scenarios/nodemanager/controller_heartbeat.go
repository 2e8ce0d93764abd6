package nodemanager

import (
	"context"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// heartbeat asks all available nodes, and created ones that have addresses, how they are, and has those go that were
// silent for too long. Claimed nodes are their pods' business.
func (c *NodeController) heartbeat(context.Context) {
	list, err := c.NodeRegistry.ListNodes(nil)
	if err != nil {
		c.report(fmt.Errorf("heartbeats: list nodes: %w", err))
		return
	}
	c.pruneBeats(list.Items)
	for _, node := range list.Items {
		phase := node.Status.Phase
		if phase == api.NodeAvailable {
			c.markSilent(node)
		}
		if (phase == api.NodeAvailable || phase == api.NodeCreated) && len(node.Status.Addresses) > 0 {
			c.probe(node)
		}
	}
}

// probe asks one node in a task, unless the last question is still open.
func (c *NodeController) probe(node *api.Node) {
	c.mu.Lock()
	_, open := c.probing[node.Name]
	c.probing[node.Name] = struct{}{}
	c.mu.Unlock()
	if open {
		return
	}
	ask := func(ctx context.Context) {
		defer c.probed(node.Name)
		ctx, cancel := c.tasks.Within(ctx, c.Config.HeartbeatInterval)
		defer cancel()
		if err := c.NodeClientFactory.GetClient(node.Status.Addresses).Healthcheck(ctx); err != nil {
			if c.tasks.Context().Err() != nil {
				return // it was cut off
			}
			c.report(fmt.Errorf("heartbeat of node %s: %w", node.Name, err))
			return
		}
		c.beat(node.Name)
	}
	if !c.tasks.Run(ask) {
		c.probed(node.Name)
	}
}

func (c *NodeController) probed(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.probing, node)
}

// beat notes that a node is well now.
func (c *NodeController) beat(node string) {
	now := c.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beats[node] = now
}

// markSilent has an available node go that was silent for HealthyTimeout. The time of one that is seen for the first
// time begins now.
func (c *NodeController) markSilent(node *api.Node) {
	now := c.Clock.Now()
	c.mu.Lock()
	last, seen := c.beats[node.Name]
	if !seen {
		c.beats[node.Name] = now
	}
	c.mu.Unlock()
	if !seen || now.Sub(last) < c.tuning.HealthyTimeout || node.Spec.Terminate {
		return
	}
	_, err := c.NodeRegistry.Change(node.Name, func(n *api.Node) error {
		if n.Status.Phase != api.NodeAvailable { // a pod has just got it
			return fmt.Errorf("it is %s: a silent node goes while it is %s", n.Status.Phase, api.NodeAvailable)
		}
		n.Spec.Terminate = true
		return nil
	})
	if err != nil {
		c.report(err)
		return
	}
	c.report(fmt.Errorf("node %s was silent for %s: it has to go", node.Name, now.Sub(last).Round(time.Second)))
}

// pruneBeats forgets nodes that are gone.
func (c *NodeController) pruneBeats(nodes []*api.Node) {
	known := make(map[string]bool, len(nodes))
	for _, node := range nodes {
		known[node.Name] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.beats {
		if !known[name] {
			delete(c.beats, name)
		}
	}
}
