package scheduler

import "github.com/nodesim/nodesim/scenarios/internal/kube"

// Seed stores a pod that has been running since a moment, or one that waits
// where it fits nowhere.
func (s *Scheduler) Seed(p *kube.Pod, since kube.Instant, running func(*kube.Pod, kube.Instant)) error {
	p.Created = since.Second()
	if n := s.find(p, s.classOf(p)); n != nil {
		s.take(n, p)
		s.assumed[p] = n
		p.NodeName = n.node.Name
		p.Labels = s.topology(p, n)
		p.Conditions = p.Conditions.Set(kube.Condition{Type: "PodScheduled", Status: "True", Transition: since.Second()})
		running(p, since)
	}
	return s.Env.API.CreatePod(p)
}
