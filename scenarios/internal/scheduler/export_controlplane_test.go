//go:build controlplane

package scheduler

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Best returns the nodes of the highest score for a pod, or why there is none.
func (s *Scheduler) Best(p *kube.Pod) (nodes []string, why string) {
	c := s.classOf(p)
	n := s.find(p, c)
	if n == nil {
		return nil, s.fitError(p, c)
	}
	if p.Pinned != "" || len(s.feasible) == 1 {
		return []string{n.node.Name}, ""
	}
	top := int64(-1)
	for _, at := range s.feasible {
		if at.score > top {
			top, nodes = at.score, nil
		}
		if at.score == top {
			nodes = append(nodes, at.node.node.Name)
		}
	}
	slices.Sort(nodes)
	return nodes, ""
}
