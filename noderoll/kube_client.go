package noderoll

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// KubeClient is the client of a KubeObserver. Every kubernetes.Interface is one, and the compiler finds the type
// parameters. client-go's interfaces aren't named here, since their packages link the types of every group of
// Kubernetes into each program that imports this one.
type KubeClient[G KubeCore[N, P, E], N KubeLister[*corev1.NodeList], P KubeLister[*corev1.PodList], E KubeLister[*corev1.EventList]] interface {
	CoreV1() G
}

// KubeCore is the client of the core group of a KubeClient.
type KubeCore[N KubeLister[*corev1.NodeList], P KubeLister[*corev1.PodList], E KubeLister[*corev1.EventList]] interface {
	Nodes() N
	Pods(namespace string) P
	Events(namespace string) E
}

// KubeLister is the client of one resource.
type KubeLister[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// kubeClient is a KubeClient without its type parameters.
type kubeClient struct {
	itself any // says by its type whether it knows WatchList
	nodes  KubeLister[*corev1.NodeList]
	pods   func(namespace string) KubeLister[*corev1.PodList]
	events KubeLister[*corev1.EventList] // of all namespaces
}

// plainClient returns nil for a client that is nil.
func plainClient[C KubeClient[G, N, P, E], G KubeCore[N, P, E], N KubeLister[*corev1.NodeList], P KubeLister[*corev1.PodList], E KubeLister[*corev1.EventList]](client C) *kubeClient {
	if any(client) == nil {
		return nil
	}
	core := client.CoreV1()
	return &kubeClient{
		itself: client, nodes: core.Nodes(), events: core.Events(metav1.NamespaceAll),
		pods: func(namespace string) KubeLister[*corev1.PodList] { return core.Pods(namespace) },
	}
}
