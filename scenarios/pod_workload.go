package scenarios

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/component"
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

// watchClaims notes whose pods have which claims: a volume is detached when its pod may be gone.
func (s *Simulation) watchClaims() {
	if !slices.ContainsFunc(s.file.Workloads, func(w spec.Workload) bool { return w.Volume != nil }) {
		return
	}
	s.claims = map[string]*spec.Workload{}
	s.env.API.WatchPods(func(c kube.Change, _, p *kube.Pod) {
		if c == kube.Added && p.Claim != "" {
			s.claims[component.VolumeKey(p)] = s.workloadOfPod(p.Namespace, p.Labels.Lookup)
		}
	})
}

// volumesOf says which volumes are those of a workload; nil is all, where no workload is named.
func (s *Simulation) volumesOf(workload string) func(volume string) bool {
	if workload == "" {
		return nil
	}
	w := s.workloadOf(workload)
	return func(volume string) bool {
		claim := volume
		if s.live != nil && s.live.disks != nil {
			claim = s.live.disks.claimOf(volume)
		}
		return w != nil && s.claims[claim] == w
	}
}
