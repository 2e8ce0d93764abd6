package noderoll

import (
	"iter"
	"maps"
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

// sinkOf is the sink of objects of one type.
type sinkOf[T metav1.Object] struct {
	put  func(T)
	drop func(namespace, name, uid string) // whatever its UID where that is ""
	held iter.Seq[podKey]                  // what the State has
}

func (s sinkOf[T]) set(obj any) {
	if o, ok := obj.(T); ok {
		s.put(o)
	}
}

func (s sinkOf[T]) remove(obj any) {
	if o, ok := obj.(T); ok {
		s.drop(o.GetNamespace(), o.GetName(), string(o.GetUID()))
	}
}

func (s sinkOf[T]) replace(objs []any) {
	kept := make(map[podKey]bool, len(objs))
	for _, obj := range objs {
		if o, ok := obj.(T); ok {
			kept[podKey{o.GetNamespace(), o.GetName()}] = true
			s.put(o)
		}
	}
	for key := range s.held {
		if !kept[key] {
			s.drop(key.namespace, key.name, "")
		}
	}
}

func nodeSink(s *State) sink {
	return sinkOf[*corev1.Node]{
		put:  func(n *corev1.Node) { s.SetNode(NodeFrom(n)) },
		drop: func(_, name, uid string) { s.DeleteNode(name, uid) },
		held: func(yield func(podKey) bool) {
			for name := range s.nodes {
				if !yield(podKey{"", name}) {
					return
				}
			}
		},
	}
}

func podSink(s *State, opts *KubeOptions) sink {
	return sinkOf[*corev1.Pod]{
		put: func(p *corev1.Pod) {
			s.SetPod(opts.podForCount(p))
			if s.roll != nil {
				s.roll.set(new(InstanceFrom(p)))
			}
		},
		drop: s.DeletePod,
		held: func(yield func(podKey) bool) { maps.Keys(s.podIndex.pods)(yield) },
	}
}

func budgetSink(s *State) sink {
	return sinkOf[*policyv1.PodDisruptionBudget]{
		put:  func(b *policyv1.PodDisruptionBudget) { s.SetBudget(BudgetFrom(b)) },
		drop: func(namespace, name, _ string) { s.DeleteBudget(namespace, name) },
		held: func(yield func(podKey) bool) {
			for namespace, sp := range s.podIndex.spaces {
				for name := range sp.budgets {
					if !yield(podKey{namespace, name}) {
						return
					}
				}
			}
		},
	}
}

func eventSink(s *State) sink {
	return sinkOf[*corev1.Event]{
		put:  func(e *corev1.Event) { s.SetEvent(EventRecordFrom(e)) },
		drop: func(namespace, name, _ string) { s.DeleteEvent(namespace, name) },
		held: func(yield func(podKey) bool) { maps.Keys(s.warns.records)(yield) },
	}
}
