package registry

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// PodLister is what node management needs to know of pods. Both return copies, the list by name.
type PodLister interface {
	// ListPods returns the pods that a filter accepts, all without one.
	ListPods(filter func(*api.Pod) bool) (*api.PodList, error)
	// GetPod returns a pod, or an error that wraps ErrNotFound.
	GetPod(name string) (*api.Pod, error)
}

// PodRegistry is a PodLister in memory. Its zero value is empty; its methods may be called from any goroutine.
type PodRegistry struct {
	mu   sync.Mutex
	pods map[string]*api.Pod
}

var _ PodLister = (*PodRegistry)(nil)

// Put stores a pod, in the place of the one of that name.
func (r *PodRegistry) Put(pod *api.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pods == nil {
		r.pods = map[string]*api.Pod{}
	}
	r.pods[pod.Name] = pod.DeepCopy()
}

// Delete forgets a pod.
func (r *PodRegistry) Delete(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pods, name)
}

// GetPod implements PodLister.
func (r *PodRegistry) GetPod(name string) (*api.Pod, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pod, ok := r.pods[name]
	if !ok {
		return nil, fmt.Errorf("get pod %s: %w", name, ErrNotFound)
	}
	return pod.DeepCopy(), nil
}

// ListPods implements PodLister. The filter must not change the pods.
func (r *PodRegistry) ListPods(filter func(*api.Pod) bool) (*api.PodList, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := &api.PodList{}
	for _, pod := range r.pods {
		if filter == nil || filter(pod) {
			list.Items = append(list.Items, pod.DeepCopy())
		}
	}
	slices.SortFunc(list.Items, func(a, b *api.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}
