package nodemanager

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// Compute is Plan for those who have no moment to name: idle nodes stop at once, standby pools don't pause, and what is
// unavailable is so now. It returns the nodes to start, the nodes to stop and the bindings from pods to nodes. Changed
// bindings are saved by the StatusUpdater one by one, in the order of the nodes' names, on copies: the arguments stay as
// they are. One that can't be saved changes no result: the next call decides about its node again. What the StatusUpdater
// returns as an error is for itself to tell. No time bounds the saving: a StatusUpdater that may hang needs a timeout of
// its own.
//
// The bindings name new nodes before anybody has created them; take those out that can't be created (see
// Changes.Publish) before telling others. Where Plan returns an error, the three results are nil.
func (s *BindingNodeScaler) Compute(
	nodes []*api.Node, pods []*api.Pod,
) ([]*api.Node, []*api.Node, map[string]string) {
	timeless := s.withoutGrace()
	p, err := timeless.newPlan(nodes, pods, time.Time{}, newNamer(s.config.Seed, ^s.computed.Add(1)))
	if err != nil {
		return nil, nil, nil
	}
	changes := p.decide()
	for _, node := range changes.Update {
		if s.nodeRegistry == nil {
			break
		}
		_, _ = s.nodeRegistry.UpdateStatus(node.DeepCopy())
	}
	return changes.Start, changes.Stop, changes.Bindings
}

// withoutGrace is the scaler for a single look: nothing of it depends on time.
func (s *BindingNodeScaler) withoutGrace() *BindingNodeScaler {
	config := s.config
	config.IdleGrace, config.Backoff = 0, Backoff{}
	return NewScaler(config)
}

// without leaves out a node whose update failed.
func (c Changes) without(node *api.Node) Changes {
	if pod := node.Status.BoundPodName; pod != "" && c.Bindings[pod] == node.Name {
		delete(c.Bindings, pod)
	}
	for i, stop := range c.Stop {
		if stop.Name == node.Name {
			c.Stop = append(c.Stop[:i:i], c.Stop[i+1:]...)
			break
		}
	}
	return c
}
