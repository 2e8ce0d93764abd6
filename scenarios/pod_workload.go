package scenarios

import (
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// workloadOfPod is the workload of the file whose pods have the labels, nil where there is none. Of several it is the one that gives its
// pods the most of them.
func (s *Simulation) workloadOfPod(namespace string, label func(key string) (value string, there bool)) *spec.Workload {
	if s.byNamespace == nil {
		s.byNamespace = map[string][]*spec.Workload{}
		for i := range s.file.Workloads {
			w := &s.file.Workloads[i]
			s.byNamespace[w.Namespace] = append(s.byNamespace[w.Namespace], w)
		}
	}
	var found *spec.Workload
	most := -1
	for _, w := range s.byNamespace[namespace] {
		if n := w.LabelsIn(label); n > most {
			found, most = w, n
		}
	}
	return found
}

// isOf reports whether a pod is one of a workload's.
func (s *Simulation) isOf(p *kube.Pod, w *spec.Workload) bool {
	return p.Namespace == w.Namespace && s.workloadOfPod(p.Namespace, p.Labels.Lookup) == w
}

// labelsOf looks labels up.
func labelsOf(m map[string]string) func(key string) (string, bool) {
	return func(key string) (string, bool) { value, there := m[key]; return value, there }
}
