//go:build controlplane

package scheduler

import (
	"maps"
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Verdict is what the scheduler makes of a pod: scores of the nodes that it fits on, or why there is none, and whose end
// would make room on the nodes where the least is lost.
type Verdict struct {
	Scores  map[string]int64
	Message string
	Victims map[string][]*kube.Pod
}

// Judge says what the scheduler would do with a pod now. Scores differ from kube-scheduler's by what all nodes have alike.
func (s *Scheduler) Judge(p *kube.Pod) Verdict {
	c := s.classOf(p)
	if n := s.find(p, c); n != nil {
		if p.Pinned != "" {
			return Verdict{Scores: map[string]int64{n.node.Name: 0}}
		}
		v := Verdict{Scores: map[string]int64{}}
		for _, at := range s.feasible {
			v.Scores[at.node.node.Name] = at.score
		}
		return v
	}
	if !s.outranks(c) || neverPreempts(p) {
		return Verdict{Message: s.fitError(p, c)}
	}
	reasons, _ := s.reasons(p, c)
	message := reasons.available(len(s.nodes))
	all, preemption := s.candidates(p, c)
	if len(all) == 0 {
		return Verdict{Message: message + s.afterFilter(preemption)}
	}
	v := Verdict{Message: message, Victims: map[string][]*kube.Pod{}}
	for best, one := slices.MinFunc(all, (*candidate).compare), 0; one < len(all); one++ {
		if all[one].compare(best) == 0 {
			v.Victims[all[one].node.node.Name] = all[one].victims
		}
	}
	return v
}

// Choose is the node that the scheduler finds for a pod now, "" for none, and how many it has compared.
func (s *Scheduler) Choose(p *kube.Pod) (node string, compared int) {
	n := s.find(p, s.classOf(p))
	if n == nil {
		return "", 0
	}
	return n.node.Name, len(s.feasible)
}

// Best returns the nodes of the highest score for a pod, or why there is none.
func (s *Scheduler) Best(p *kube.Pod) (nodes []string, why string) {
	c := s.classOf(p)
	if s.find(p, c) == nil {
		return nil, s.fitError(p, c)
	}
	scores := s.Judge(p).Scores
	top := slices.Max(slices.Collect(maps.Values(scores)))
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		if scores[name] == top {
			nodes = append(nodes, name)
		}
	}
	return nodes, ""
}
