package controller

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// The addresses that every pod of a [MockProvider] has.
const (
	mockHostIP = "1.2.3.4"
	mockPodIP  = "5.6.7.8"
)

// MockProvider runs pods without containers: a created pod is Running and Ready at once, a deleted one Succeeded, with
// its containers terminated. It reports by itself ([PodNotifier]). It holds one pod per namespace and name, gives out
// copies, and is safe for concurrent use. It is for tests and first steps; its word on a pod's readiness is worth nothing.
type MockProvider struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	pods   map[string]*corev1.Pod
	notify func(*corev1.Pod)
}

var (
	_ PodLifecycleHandler = (*MockProvider)(nil)
	_ PodNotifier         = (*MockProvider)(nil)
)

// NewMockProvider is an empty provider whose pods start and end at the clock's time; nil is the wall clock.
func NewMockProvider(c clock.PassiveClock) *MockProvider {
	if c == nil {
		c = clock.RealClock{}
	}
	return &MockProvider{clock: c, pods: map[string]*corev1.Pod{}}
}

// Capacity returns the capacity of a node of this provider: 20 CPUs, 100Gi of memory, 20 pods. Nothing enforces it
// here.
func (p *MockProvider) Capacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("20"),
		corev1.ResourceMemory: resource.MustParse("100Gi"),
		corev1.ResourcePods:   resource.MustParse("20"),
	}
}

// CreatePod runs a pod. An earlier one of its name is replaced.
func (p *MockProvider) CreatePod(_ context.Context, pod *corev1.Pod) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	running := pod.DeepCopy()
	running.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: mockHostIP, PodIP: mockPodIP, StartTime: &now,
		HostIPs: []corev1.HostIP{{IP: mockHostIP}}, PodIPs: []corev1.PodIP{{IP: mockPodIP}},
		ObservedGeneration: pod.Generation,
	}
	for _, kind := range []corev1.PodConditionType{
		corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		running.Status.Conditions = append(running.Status.Conditions, corev1.PodCondition{
			Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now,
		})
	}
	for _, c := range pod.Spec.Containers {
		running.Status.ContainerStatuses = append(running.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, Started: new(true),
			// Without resources in the status, the API server refuses every resize of the pod.
			Resources: c.Resources.DeepCopy(), AllocatedResources: c.Resources.Requests.DeepCopy(),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	p.pods[nameOf(pod)] = running
	p.report(running)
	return nil
}

// UpdatePod changes a pod that runs; its containers go on running, with their new images and
// resources.
func (p *MockProvider) UpdatePod(_ context.Context, pod *corev1.Pod) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	held, err := p.held(pod)
	if err != nil {
		return err
	}
	updated := pod.DeepCopy()
	updated.Status = *held.Status.DeepCopy()
	updated.Status.ObservedGeneration = pod.Generation
	for i := range updated.Status.ContainerStatuses {
		for _, c := range pod.Spec.Containers {
			if status := &updated.Status.ContainerStatuses[i]; status.Name == c.Name {
				status.Image = c.Image
				status.Resources, status.AllocatedResources = c.Resources.DeepCopy(), c.Resources.Requests.DeepCopy()
			}
		}
	}
	p.pods[nameOf(pod)] = updated
	p.report(updated)
	return nil
}

// DeletePod ends a pod at once; one that isn't here is a not-found error.
func (p *MockProvider) DeletePod(_ context.Context, pod *corev1.Pod) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	held, err := p.held(pod)
	if err != nil {
		return err
	}
	now := p.now()
	ended := held.DeepCopy()
	ended.Status.Phase, ended.Status.Reason = corev1.PodSucceeded, "MockProviderPodDeleted"
	for i := range ended.Status.ContainerStatuses {
		status := &ended.Status.ContainerStatuses[i]
		terminated := &corev1.ContainerStateTerminated{
			Reason: "MockProviderPodContainerDeleted", Message: "Mock provider terminated container upon deletion",
			FinishedAt: now,
		}
		if status.State.Running != nil {
			terminated.StartedAt = status.State.Running.StartedAt
		}
		status.Ready, status.Started = false, new(false)
		status.State = corev1.ContainerState{Terminated: terminated}
	}
	delete(p.pods, nameOf(pod))
	p.report(ended)
	return nil
}

// GetPod is a copy of the pod of that name.
func (p *MockProvider) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held, err := p.held(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	if err != nil {
		return nil, err
	}
	return held.DeepCopy(), nil
}

// GetPodStatus is a copy of the status of the pod of that name.
func (p *MockProvider) GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error) {
	pod, err := p.GetPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return &pod.Status, nil
}

// GetPods are copies of all pods, in no order.
func (p *MockProvider) GetPods(context.Context) ([]*corev1.Pod, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*corev1.Pod, 0, len(p.pods))
	for _, pod := range p.pods {
		all = append(all, pod.DeepCopy())
	}
	return all, nil
}

// NotifyPods implements [PodNotifier] and reports what runs already.
func (p *MockProvider) NotifyPods(_ context.Context, notify func(*corev1.Pod)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notify = notify
	for _, pod := range p.pods {
		p.report(pod)
	}
}

// Change changes a pod here, say its status, and reports it.
func (p *MockProvider) Change(namespace, name string, change func(*corev1.Pod)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	held, err := p.held(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	if err != nil {
		return err
	}
	change(held)
	p.report(held)
	return nil
}

// held is the pod of that name, and UID if it has one; the lock is held.
func (p *MockProvider) held(pod *corev1.Pod) (*corev1.Pod, error) {
	held := p.pods[nameOf(pod)]
	if held == nil || pod.UID != "" && held.UID != pod.UID {
		return nil, NotFoundf("pod %q is not known to the provider", nameOf(pod))
	}
	return held, nil
}

// report tells the controller; the lock is held, so that the reports of a pod keep their order.
func (p *MockProvider) report(pod *corev1.Pod) {
	if p.notify != nil {
		p.notify(pod)
	}
}

func (p *MockProvider) now() metav1.Time { return metav1.NewTime(p.clock.Now()).Rfc3339Copy() }
