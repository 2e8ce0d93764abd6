package noderoll

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// sink writes one resource into a State. Objects of another type are ignored:
// the reflector lets none through.
type sink interface {
	set(obj any)
	remove(obj any)
	// replace sets all objects and removes what isn't among them.
	replace(objs []any)
}

// sinkStore holds what a reflector writes into: a sink under the observer's lock.
type sinkStore struct {
	mu       *sync.Mutex
	sink     sink
	replaced func()
	opts     *KubeOptions // what is kept of pods
}

var _ cache.TransformingStore = (*sinkStore)(nil)

func (s *sinkStore) Add(obj any) error { return s.Update(obj) }

func (s *sinkStore) Update(obj any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.set(obj)
	return nil
}

func (s *sinkStore) Delete(obj any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.remove(obj)
	return nil
}

func (s *sinkStore) Replace(objs []any, _ string) error {
	s.mu.Lock()
	s.sink.replace(objs)
	s.mu.Unlock()
	s.replaced()
	return nil
}

func (s *sinkStore) Resync() error { return nil }

// Transformer strips pods while a WatchList is still streaming them, so that a
// large cluster is never in memory as a whole.
func (s *sinkStore) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		if pod, ok := obj.(*corev1.Pod); ok {
			return stripPod(s.opts, pod), nil
		}
		return obj, nil
	}
}

// stripPod keeps of a pod what podForCount reads, and what a store needs; and what
// InstanceFrom reads where a roll of pods may be about it. Labels don't decide that:
// an instance stays one when they change.
func stripPod(opts *KubeOptions, p *corev1.Pod) *corev1.Pod {
	slim := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion,
			DeletionTimestamp: p.DeletionTimestamp,
		},
		Spec:   corev1.PodSpec{NodeName: p.Spec.NodeName},
		Status: corev1.PodStatus{Phase: p.Status.Phase},
	}
	if v, ok := p.Annotations[corev1.MirrorPodAnnotationKey]; ok {
		slim.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: v}
	}
	for _, ref := range p.OwnerReferences {
		if ref.Kind == "DaemonSet" {
			slim.OwnerReferences = []metav1.OwnerReference{{Kind: ref.Kind}}
			break
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget || c.Type == corev1.PodReady && opts.Budgets != nil {
			slim.Status.Conditions = append(slim.Status.Conditions, c)
		}
	}
	if opts.Budgets != nil {
		slim.Labels = p.Labels
	}
	if scope := &opts.Pods; scope.On() && (scope.Namespace == "" || scope.Namespace == p.Namespace) {
		keepInstance(scope, slim, p)
	}
	return slim
}

func keepInstance(scope *PodScope, slim, p *corev1.Pod) {
	slim.Generation, slim.Labels = p.Generation, p.Labels
	if v, ok := p.Annotations[scope.stateKey()]; ok {
		if slim.Annotations == nil {
			slim.Annotations = map[string]string{}
		}
		slim.Annotations[scope.stateKey()] = v
	}
	containers := func(all []corev1.Container) (kept []corev1.Container) {
		for i := range all {
			c := &all[i]
			kept = append(kept, corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources, RestartPolicy: c.RestartPolicy})
		}
		return kept
	}
	slim.Spec.Containers, slim.Spec.InitContainers = containers(p.Spec.Containers), containers(p.Spec.InitContainers)
	slim.Status = corev1.PodStatus{
		ObservedGeneration: p.Status.ObservedGeneration, Phase: p.Status.Phase, Conditions: p.Status.Conditions,
		ContainerStatuses: p.Status.ContainerStatuses, InitContainerStatuses: p.Status.InitContainerStatuses,
	}
}

type nodeSink struct{ state *State }

func (s *nodeSink) set(obj any) {
	if n, ok := obj.(*corev1.Node); ok {
		s.state.SetNode(NodeFrom(n))
	}
}

func (s *nodeSink) remove(obj any) {
	if n, ok := obj.(*corev1.Node); ok {
		s.state.DeleteNode(n.Name, string(n.UID))
	}
}

func (s *nodeSink) replace(objs []any) {
	kept := make(map[string]bool, len(objs))
	for _, obj := range objs {
		if n, ok := obj.(*corev1.Node); ok {
			kept[n.Name] = true
			s.set(n)
		}
	}
	for name := range s.state.nodes {
		if !kept[name] {
			s.state.DeleteNode(name, "")
		}
	}
}

type podSink struct {
	state *State
	opts  *KubeOptions
}

func (s *podSink) set(obj any) {
	if p, ok := obj.(*corev1.Pod); ok {
		s.state.SetPod(s.opts.podForCount(p))
		if s.state.roll != nil {
			s.state.roll.set(new(InstanceFrom(p)))
		}
	}
}

func (s *podSink) remove(obj any) {
	if p, ok := obj.(*corev1.Pod); ok {
		s.state.DeletePod(p.Namespace, p.Name, string(p.UID))
	}
}

func (s *podSink) replace(objs []any) {
	kept := make(map[podKey]bool, len(objs))
	for _, obj := range objs {
		if p, ok := obj.(*corev1.Pod); ok {
			kept[podKey{p.Namespace, p.Name}] = true
			s.set(p)
		}
	}
	for key := range s.state.podIndex.pods {
		if !kept[key] {
			s.state.DeletePod(key.namespace, key.name, "")
		}
	}
}

type budgetSink struct{ state *State }

func (s *budgetSink) set(obj any) {
	if b, ok := obj.(*policyv1.PodDisruptionBudget); ok {
		s.state.SetBudget(BudgetFrom(b))
	}
}

func (s *budgetSink) remove(obj any) {
	if b, ok := obj.(*policyv1.PodDisruptionBudget); ok {
		s.state.DeleteBudget(b.Namespace, b.Name)
	}
}

func (s *budgetSink) replace(objs []any) {
	kept := make(map[podKey]bool, len(objs))
	for _, obj := range objs {
		if b, ok := obj.(*policyv1.PodDisruptionBudget); ok {
			kept[podKey{b.Namespace, b.Name}] = true
			s.set(b)
		}
	}
	for namespace, sp := range s.state.podIndex.spaces {
		for name := range sp.budgets {
			if !kept[podKey{namespace, name}] {
				s.state.DeleteBudget(namespace, name)
			}
		}
	}
}

type eventSink struct{ state *State }

func (s *eventSink) set(obj any) {
	if e, ok := obj.(*corev1.Event); ok {
		s.state.SetEvent(EventRecordFrom(e))
	}
}

func (s *eventSink) remove(obj any) {
	if e, ok := obj.(*corev1.Event); ok {
		s.state.DeleteEvent(e.Namespace, e.Name)
	}
}

func (s *eventSink) replace(objs []any) {
	kept := make(map[podKey]bool, len(objs))
	for _, obj := range objs {
		if e, ok := obj.(*corev1.Event); ok {
			kept[podKey{e.Namespace, e.Name}] = true
			s.set(e)
		}
	}
	for key := range s.state.warns.records {
		if !kept[key] {
			s.state.DeleteEvent(key.namespace, key.name)
		}
	}
}
