package scenarios

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// seats are the nodes on which pods are to be when a live run begins. The API server binds a pod to a node that isn't there yet
// (assignPod of pkg/registry/core/pod/storage), so pods are placed before the nodes come, and the scheduler has no say. Pods with
// volumes are the scheduler's: it chooses where a volume is made.
type seats struct {
	free  map[types.NamespacedName][]string
	left  int
	bound map[types.UID]bool
}

func seatsOf(f *File) seats {
	s := seats{free: map[types.NamespacedName][]string{}, bound: map[types.UID]bool{}}
	for i := range f.Workloads {
		w := &f.Workloads[i]
		if w.Kind == spec.KindDaemonSet || w.Volume != nil {
			continue
		}
		for _, p := range w.Pods {
			if p.Node != "" && len(s.free[w.Key()]) < w.Replicas {
				s.free[w.Key()] = append(s.free[w.Key()], p.Node)
				s.left++
			}
		}
	}
	return s
}

// Placing reports whether the file says where pods are at 0s: their workloads have to be created before the nodes are there.
func (p *LiveSimulation) Placing() bool { return len(p.seats.free) > 0 }

// Unplaced says which pods aren't where they are to be at 0s, a phrase for each workload.
func (p *LiveSimulation) Unplaced() (missing []string) {
	if p.seats.left == 0 {
		return nil
	}
	for i := range p.sim.file.Workloads {
		key := p.sim.file.Workloads[i].Key()
		if n := len(p.seats.free[key]); n > 0 {
			missing = append(missing, fmt.Sprintf("%d pods of %s aren't bound", n, key))
		}
	}
	return missing
}

// place binds a new pod to one of its workload's nodes, where one is left.
func (p *LiveSimulation) place(pod *kube.Pod) {
	if p.begun || p.seats.left == 0 || pod.NodeName != "" || pod.Terminating() || p.seats.bound[types.UID(pod.UID)] {
		return
	}
	w := p.sim.workloadOfPod(pod.Namespace, pod.Labels.Lookup)
	if w == nil || len(p.seats.free[w.Key()]) == 0 {
		return
	}
	free := p.seats.free[w.Key()]
	p.seats.free[w.Key()] = free[1:]
	p.seats.left--
	p.seats.bound[types.UID(pod.UID)] = true
	p.apiServer.Bind(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, types.UID(pod.UID), free[0])
}
