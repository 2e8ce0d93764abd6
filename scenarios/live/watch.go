package live

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

// newInformers are the one set of caches that everybody shares. Who wrote which
// field is of no interest to anybody here and takes half of the memory; what a kubelet
// has noted on its Node is of interest to it alone, when it writes.
func newInformers(client kubernetes.Interface, alike *commons) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(func(o any) (any, error) {
		if m, err := meta.Accessor(o); err == nil {
			m.SetManagedFields(nil)
		}
		switch o := o.(type) {
		case *corev1.Pod:
			alike.pod(o)
		case *corev1.Node:
			virtualnode.LeaveOutApplied(o)
			alike.node(o)
		}
		return o, nil
	}))
}

// follow tells the stage what the watches say, each resource in its order.
func follow(f informers.SharedInformerFactory, s *stage, p performance, ks *kubelets, heard func()) error {
	for _, one := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{
		{f.Core().V1().Nodes().Informer(), seen(s, heard, func(t watch.EventType, n *corev1.Node) {
			if !ks.own(n) {
				return // it is no machine's, whatever its name
			}
			if t == watch.Deleted {
				ks.line.drop(n.Name)
				ks.nodeGone(n.Name)
			} else {
				ks.line.seen(n.Name, n)
			}
			p.NodeSeen(t, n)
		})},
		{f.Core().V1().Pods().Informer(), seen(s, heard, func(t watch.EventType, pod *corev1.Pod) {
			if t == watch.Deleted {
				ks.pods.forget(pod)
				ks.pods.line.drop(pod.UID)
			} else {
				ks.pods.line.seen(pod.UID, pod)
				ks.pods.share(pod)
			}
			p.PodSeen(t, pod)
		})},
		{f.Policy().V1().PodDisruptionBudgets().Informer(), seen(s, heard, func(t watch.EventType, b *policyv1.PodDisruptionBudget) { p.BudgetSeen(t, b) })},
	} {
		if _, err := one.informer.AddEventHandler(one.handler); err != nil {
			return err
		}
	}
	return nil
}

// followDisks does the same for volumes, their claims and attachments.
func followDisks(f informers.SharedInformerFactory, s *stage, p performance, heard func()) error {
	_, claims := f.Core().V1().PersistentVolumeClaims().Informer().AddEventHandler(seen(s, heard, p.ClaimSeen))
	_, volumes := f.Core().V1().PersistentVolumes().Informer().AddEventHandler(seen(s, heard, p.VolumeSeen))
	_, attachments := f.Storage().V1().VolumeAttachments().Informer().AddEventHandler(seen(s, heard, p.AttachmentSeen))
	return errors.Join(claims, volumes, attachments)
}

// seen hands the events of an informer to the stage, and says that there was one. A deletion that was missed
// comes with the last state that was seen; one whose object was made anew meanwhile is told all the same.
func seen[T metav1.Object](s *stage, heard func(), tell func(watch.EventType, T)) cache.ResourceEventHandler {
	post := func(t watch.EventType, o any) {
		if last, missed := o.(cache.DeletedFinalStateUnknown); missed {
			o = last.Obj
		}
		if is, ok := o.(T); ok {
			s.post(func() { heard(); tell(t, is) })
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { post(watch.Added, o) },
		UpdateFunc: func(before, o any) {
			was, _ := before.(T)
			if is, ok := o.(T); ok && was.GetUID() != is.GetUID() {
				post(watch.Deleted, was)
				post(watch.Added, is)
				return
			}
			post(watch.Modified, o)
		},
		DeleteFunc: func(o any) { post(watch.Deleted, o) },
	}
}

// followCustoms tells the stage what watches of the provider's own objects say. The
// watches end with ctx; wait waits for them.
func followCustoms(ctx context.Context, client dynamic.Interface, label string, kinds []scenarios.CustomKind, s *stage, p performance, heard func()) (wait func(), err error) {
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, metav1.NamespaceAll, func(o *metav1.ListOptions) {
		o.LabelSelector = Label + "=" + label
	})
	for _, kind := range kinds {
		handler := seen(s, heard, func(t watch.EventType, o *unstructured.Unstructured) { p.CustomSeen(t, kind, o) })
		if _, err := factory.ForResource(kind.GroupVersionResource).Informer().AddEventHandler(handler); err != nil {
			return factory.Shutdown, err
		}
	}
	factory.Start(ctx.Done())
	return factory.Shutdown, nil
}
