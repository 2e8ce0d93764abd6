package nodemanager

import (
	"context"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
)

// dispatch hands nodes out and takes them back. Before the first plan nobody knows which pod has a node, so requests
// wait for it; returns don't.
func (c *NodeController) dispatch(ctx context.Context) {
	var bindings map[string]string
	var requests chan NodeRequest
	for {
		select {
		case <-ctx.Done():
			return
		case bindings = <-c.bindings:
			requests = c.NodeDispenser.NodeRequestChan
		case returned := <-c.NodeDispenser.NodeReturnChan:
			c.takeBack(returned)
		case request := <-requests:
			select { // of a plan and a request that come at once, the plan counts first
			case bindings = <-c.bindings:
			default:
			}
			c.answer(ctx, request, bindings)
		}
	}
}

// answer gives a pod its node. Where the pod's controller has left meanwhile, the node is free again.
func (c *NodeController) answer(ctx context.Context, r NodeRequest, bindings map[string]string) {
	if r.ReplyChan == nil {
		c.report(fmt.Errorf("pod %s asks for a node without a channel for the reply: use RequestNode", r.requestingPod.Name))
		return
	}
	reply := c.replyTo(r.requestingPod.Name, bindings)
	select {
	case r.ReplyChan <- reply:
		return
	case <-r.gone:
	case <-ctx.Done():
	}
	if reply.Node != nil {
		c.report(c.release(reply.Node.Name))
	}
}

// replyTo claims the node of a pod if it is available.
func (c *NodeController) replyTo(pod string, bindings map[string]string) NodeReply {
	name, bound := bindings[pod]
	if !bound {
		return NodeReply{NoBinding: true}
	}
	node, err := c.NodeRegistry.Change(name, func(n *api.Node) error {
		if n.Status.Phase != api.NodeAvailable || n.Spec.Terminate ||
			n.Status.BoundPodName != "" && n.Status.BoundPodName != pod {
			return fmt.Errorf("phase %s, bound to %q: want it available for %q", n.Status.Phase, n.Status.BoundPodName, pod)
		}
		n.Status.Phase, n.Status.BoundPodName, n.Status.IdleSince = api.NodeClaimed, pod, time.Time{}
		return nil
	})
	if err != nil {
		return NodeReply{} // it still boots, or is on its way out; asking again is the remedy
	}
	return NodeReply{Node: node}
}

// takeBack puts a node that a pod leaves back among the free ones, or has it cleaned.
func (c *NodeController) takeBack(r NodeReturn) {
	if r.Unused {
		c.report(c.release(r.NodeName))
		return
	}
	node, err := c.NodeRegistry.Change(r.NodeName, func(n *api.Node) error {
		if n.Status.Phase != api.NodeClaimed {
			return fmt.Errorf("it is returned in phase %s: want %s", n.Status.Phase, api.NodeClaimed)
		}
		n.Status.Phase = api.NodeCleaning
		return nil
	})
	if err != nil {
		c.report(fmt.Errorf("take a used node back: %w", err))
		return
	}
	c.emit(events.NodeCleaning, node, "")
	c.clean(node)
}

// takeBackRest settles what was returned while the controller ended.
func (c *NodeController) takeBackRest() {
	for {
		select {
		case returned := <-c.NodeDispenser.NodeReturnChan:
			c.takeBack(returned)
		default:
			return
		}
	}
}

// release makes a claimed node that no pod started on available. Its silence while it was claimed doesn't count.
func (c *NodeController) release(name string) error {
	c.beat(name)
	_, err := c.NodeRegistry.Change(name, func(n *api.Node) error {
		if n.Status.Phase != api.NodeClaimed {
			return fmt.Errorf("it is returned in phase %s: want %s", n.Status.Phase, api.NodeClaimed)
		}
		n.Status.Phase, n.Status.BoundPodName, n.Status.IdleSince = api.NodeAvailable, "", time.Time{}
		return nil
	})
	if err != nil {
		return fmt.Errorf("take an unused node back: %w", err)
	}
	return nil
}

// clean unbinds a node in Cleaning, saves its agent's log and stops it.
func (c *NodeController) clean(node *api.Node) {
	_, err := c.NodeRegistry.Change(node.Name, func(n *api.Node) error {
		n.Status.BoundPodName = ""
		return nil
	})
	if err != nil {
		c.report(fmt.Errorf("clean: %w", err))
		return
	}
	c.tasks.Run(func(ctx context.Context) { // a node that isn't stopped here is the next controller's
		c.saveLog(ctx, node)
		if ctx.Err() == nil {
			c.report(c.stopNode(node.Name, nil))
		}
	})
}

// saveLog keeps the end of an agent's log. A node that doesn't give it is stopped all the same.
func (c *NodeController) saveLog(ctx context.Context, node *api.Node) {
	if c.LogRegistry == nil || len(node.Status.Addresses) == 0 {
		return
	}
	ctx, cancel := c.tasks.Within(ctx, c.tuning.HealthyTimeout)
	defer cancel()
	text, err := c.NodeClientFactory.GetClient(node.Status.Addresses).GetFile(ctx, c.tuning.LogPath, c.tuning.LogBytes)
	if err != nil {
		c.report(fmt.Errorf("save the log of node %s: %w", node.Name, err))
		return
	}
	c.LogRegistry.CreateLog(node.Name, text[max(0, len(text)-c.tuning.LogBytes):])
}
