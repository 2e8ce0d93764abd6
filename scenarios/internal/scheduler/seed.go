package scheduler

import "github.com/nodesim/nodesim/scenarios/internal/kube"

// Seed stores a pod that has been running since a moment, or one that waits
// where it fits nowhere. One with a node runs there, whether it fits or not.
func (s *Scheduler) Seed(p *kube.Pod, since kube.Instant, running func(*kube.Pod, kube.Instant)) error {
	p.Created = since.Second()
	if n := s.seat(p); n != nil {
		s.take(n, p)
		s.assumed[p] = n
		p.NodeName = n.node.Name
		p.Labels = s.topology(p, n)
		p.Conditions = p.Conditions.Set(kube.Condition{Type: "PodScheduled", Status: "True", Transition: since.Second()})
		running(p, since)
	}
	return s.Env.API.CreatePod(p)
}

// seat is the node of a pod that is seeded, nil where it waits.
func (s *Scheduler) seat(p *kube.Pod) *schedNode {
	switch {
	case p.NodeName != "":
		return s.nodes[p.NodeName]
	case p.Gated:
		return nil
	}
	return s.find(p, s.classOf(p))
}
