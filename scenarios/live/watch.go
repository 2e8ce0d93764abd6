package live

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/virtualnode/controller"
	"github.com/nodesim/nodesim/scenarios/virtualnode/informer"
)

// caches are the one set of caches that everybody shares.
type caches struct {
	informer.Set
	client kubeclient.Interface
	alike  *interner
	pods   *informer.Of[corev1listers.PodLister]
	nodes  *informer.Of[corev1listers.NodeLister]
}

// newCaches are those of pods and nodes; others are added where they are asked for. managedFields aren't needed here
// and take half of the memory; the annotations of a kubelet on its Node matter to it alone, when it writes.
func newCaches(client kubeclient.Interface, alike *interner) *caches {
	c := &caches{client: client, alike: alike}
	c.pods, c.nodes = informer.Pods(client, informer.Options{}), informer.Nodes(client, informer.Options{})
	c.keep(c.pods.Informer())
	c.keep(c.nodes.Informer())
	return c
}

// keep has an informer run with the others, which slim what they hold.
func (c *caches) keep(i cache.SharedIndexInformer) cache.SharedIndexInformer {
	_ = i.SetTransform(c.slim) // an error means that it runs
	c.Add(i)
	return i
}

func (c *caches) slim(o any) (any, error) {
	if m, err := meta.Accessor(o); err == nil {
		m.SetManagedFields(nil)
	}
	switch o := o.(type) {
	case *corev1.Pod:
		c.alike.pod(o)
	case *corev1.Node:
		controller.LeaveOutApplied(o)
		c.alike.node(o)
	}
	return o, nil
}

// follow hands the events of the watches to the event loop, those of each resource in order.
func follow(c *caches, s *eventLoop, p simulation, ks *kubelets, heard func()) error {
	for _, one := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{
		{c.nodes.Informer(), seen(s, heard, func(t watch.EventType, n *corev1.Node) {
			if !ks.owns(n) {
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
		{c.pods.Informer(), seen(s, heard, func(t watch.EventType, pod *corev1.Pod) {
			if t == watch.Deleted {
				ks.pods.forget(pod)
				ks.pods.line.drop(pod.UID)
			} else {
				ks.pods.line.seen(pod.UID, pod)
				ks.pods.share(pod)
			}
			p.PodSeen(t, pod)
		})},
		{c.keep(informer.New(c.client, &policyv1.PodDisruptionBudget{}, c.client.PolicyV1().PodDisruptionBudgets(metav1.NamespaceAll), informer.Options{})), seen(s, heard, func(t watch.EventType, b *policyv1.PodDisruptionBudget) { p.BudgetSeen(t, b) })},
	} {
		if _, err := one.informer.AddEventHandler(one.handler); err != nil {
			return err
		}
	}
	return nil
}

// followDisks does the same for volumes, their claims and attachments.
func followDisks(c *caches, s *eventLoop, p simulation, heard func()) error {
	core, storage := c.client.CoreV1(), c.client.StorageV1()
	_, claims := c.keep(informer.New(c.client, &corev1.PersistentVolumeClaim{}, core.PersistentVolumeClaims(metav1.NamespaceAll), informer.Options{})).
		AddEventHandler(seen(s, heard, p.ClaimSeen))
	_, volumes := c.keep(informer.New(c.client, &corev1.PersistentVolume{}, core.PersistentVolumes(), informer.Options{})).
		AddEventHandler(seen(s, heard, p.VolumeSeen))
	_, attachments := c.keep(informer.New(c.client, &storagev1.VolumeAttachment{}, storage.VolumeAttachments(), informer.Options{})).
		AddEventHandler(seen(s, heard, p.AttachmentSeen))
	return errors.Join(claims, volumes, attachments)
}

// seen hands the events of an informer to the event loop, and notes that there was one. A deletion that was missed
// comes with the last state that was seen; one whose object was created again meanwhile is told all the same.
func seen[T metav1.Object](s *eventLoop, heard func(), tell func(watch.EventType, T)) cache.ResourceEventHandler {
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

// followCustoms hands the events of the provider's own objects to the event loop. The watches end with ctx; wait
// waits for them.
func followCustoms(ctx context.Context, client dynamic.Interface, label string, kinds []scenarios.CustomKind, s *eventLoop, p simulation, heard func()) (wait func(), err error) {
	ours := informer.Options{Tweak: func(o *metav1.ListOptions) { o.LabelSelector = Label + "=" + label }}
	var watches informer.Set
	for _, kind := range kinds {
		handler := seen(s, heard, func(t watch.EventType, o *unstructured.Unstructured) { p.CustomSeen(t, kind, o) })
		i := informer.New(client, &unstructured.Unstructured{}, client.Resource(kind.GroupVersionResource), ours)
		if _, err := i.AddEventHandler(handler); err != nil {
			return watches.Wait, err
		}
		watches.Add(i)
	}
	watches.Start(ctx)
	return watches.Wait, nil
}
