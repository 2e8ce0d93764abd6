// Package informer makes shared informers of single resources. client-go's factories (k8s.io/client-go/informers) link the
// clients, listers and types of every group of Kubernetes, some 180 packages; what runs virtual nodes needs six resources.
//
// Its API may still change (docs/stability.md).
package informer

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Resource is the part of a typed client that lists and watches: client.CoreV1().Pods(namespace), of which L is
// *corev1.PodList.
type Resource[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// Options change an informer; the zero value watches everything and never resyncs.
type Options struct {
	// Resync is the interval at which handlers get all objects again; 0 is never.
	Resync time.Duration
	// Tweak, if set, changes each list and watch, such as by a selector.
	Tweak func(*metav1.ListOptions)
}

// New returns an informer over one resource, indexed by namespace, not started yet. Object is an empty object of the
// resource's type. Client is the client of the resource: fakes of client-go say by it that they know no watch lists
// (kubernetes#135895).
func New[L runtime.Object](client any, object runtime.Object, resource Resource[L], o Options) cache.SharedIndexInformer {
	tweak := o.Tweak
	if tweak == nil {
		tweak = func(*metav1.ListOptions) {}
	}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			tweak(&opts)
			return resource.List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			tweak(&opts)
			return resource.Watch(ctx, opts)
		},
	}
	return cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(lw, client), object, o.Resync,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

// Of is an informer with its lister: what client-go calls a PodInformer, a NodeInformer and so on.
type Of[L any] struct {
	shared cache.SharedIndexInformer
	lister L
}

// Informer is the shared informer.
func (o *Of[L]) Informer() cache.SharedIndexInformer { return o.shared }

// Lister reads from its cache.
func (o *Of[L]) Lister() L { return o.lister }

// pods, nodes and so on are clients of the core group by the one resource that is watched. kubernetes.Interface has them
// all, and the compiler finds the type parameters.
type (
	core[G any]                                   interface{ CoreV1() G }
	pods[R Resource[*corev1.PodList]]             interface{ Pods(namespace string) R }
	nodes[R Resource[*corev1.NodeList]]           interface{ Nodes() R }
	configMaps[R Resource[*corev1.ConfigMapList]] interface{ ConfigMaps(namespace string) R }
	secrets[R Resource[*corev1.SecretList]]       interface{ Secrets(namespace string) R }
	services[R Resource[*corev1.ServiceList]]     interface{ Services(namespace string) R }
)

// Pods is an informer of the pods of all namespaces.
func Pods[C core[G], G pods[R], R Resource[*corev1.PodList]](c C, o Options) *Of[corev1listers.PodLister] {
	return of(New(c, &corev1.Pod{}, c.CoreV1().Pods(metav1.NamespaceAll), o), corev1listers.NewPodLister)
}

// Nodes is an informer of nodes.
func Nodes[C core[G], G nodes[R], R Resource[*corev1.NodeList]](c C, o Options) *Of[corev1listers.NodeLister] {
	return of(New(c, &corev1.Node{}, c.CoreV1().Nodes(), o), corev1listers.NewNodeLister)
}

// ConfigMaps is an informer of the config maps of all namespaces.
func ConfigMaps[C core[G], G configMaps[R], R Resource[*corev1.ConfigMapList]](c C, o Options) *Of[corev1listers.ConfigMapLister] {
	return of(New(c, &corev1.ConfigMap{}, c.CoreV1().ConfigMaps(metav1.NamespaceAll), o), corev1listers.NewConfigMapLister)
}

// Secrets is an informer of the secrets of all namespaces.
func Secrets[C core[G], G secrets[R], R Resource[*corev1.SecretList]](c C, o Options) *Of[corev1listers.SecretLister] {
	return of(New(c, &corev1.Secret{}, c.CoreV1().Secrets(metav1.NamespaceAll), o), corev1listers.NewSecretLister)
}

// Services is an informer of the services of all namespaces.
func Services[C core[G], G services[R], R Resource[*corev1.ServiceList]](c C, o Options) *Of[corev1listers.ServiceLister] {
	return of(New(c, &corev1.Service{}, c.CoreV1().Services(metav1.NamespaceAll), o), corev1listers.NewServiceLister)
}

func of[L any](shared cache.SharedIndexInformer, lister func(cache.Indexer) L) *Of[L] {
	return &Of[L]{shared: shared, lister: lister(shared.GetIndexer())}
}
