package nodemanager

import (
	"context"
	"fmt"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
)

// reap ejects the pods of nodes that have to go and stops them; of those that are being stopped nothing is left to do.
func (c *NodeController) reap(context.Context) {
	list, err := c.NodeRegistry.ListNodes(func(n *api.Node) bool {
		return n.Spec.Terminate && n.Status.Phase != api.NodeTerminated
	})
	if err != nil {
		c.report(fmt.Errorf("reaper: list nodes: %w", err))
		return
	}
	for _, node := range list.Items {
		if err := c.eject(node); err != nil {
			c.report(fmt.Errorf("reaper: %w", err))
		}
		c.report(c.stopNode(node.Name, nil))
	}
}

// eject tells the pod of a node, if it is still on it, that the node goes, and unbinds them.
func (c *NodeController) eject(node *api.Node) error {
	name := node.Status.BoundPodName
	if name == "" {
		return nil
	}
	pod, err := c.PodReader.GetPod(name)
	if err == nil && pod.Status.BoundNodeName == node.Name {
		c.Events.Emit(events.Event{
			Type: events.PodEjected, Source: source, Node: node, Pod: pod, Message: "node " + node.Name + " has to go",
		})
	}
	// A pod that is gone needs no telling.
	_, err = c.NodeRegistry.Change(node.Name, func(n *api.Node) error {
		n.Status.BoundPodName = ""
		return nil
	})
	return err
}
