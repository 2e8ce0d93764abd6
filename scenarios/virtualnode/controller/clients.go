package controller

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The clients that the controllers use. client-go's typed clients are such; their interfaces aren't named here, since
// their packages link the types of every group of Kubernetes.
type (
	// NodeClient is the client of nodes: client.CoreV1().Nodes().
	NodeClient interface {
		Get(ctx context.Context, name string, opts metav1.GetOptions) (*corev1.Node, error)
		Create(ctx context.Context, node *corev1.Node, opts metav1.CreateOptions) (*corev1.Node, error)
		Patch(ctx context.Context, name string, kind types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*corev1.Node, error)
	}

	// LeaseClient is the client of the leases of one namespace: client.CoordinationV1().Leases(namespace).
	LeaseClient interface {
		Get(ctx context.Context, name string, opts metav1.GetOptions) (*coordinationv1.Lease, error)
		Create(ctx context.Context, lease *coordinationv1.Lease, opts metav1.CreateOptions) (*coordinationv1.Lease, error)
		Update(ctx context.Context, lease *coordinationv1.Lease, opts metav1.UpdateOptions) (*coordinationv1.Lease, error)
	}

	// PodClient is the client of the pods of one namespace, or of all: client.CoreV1().Pods(namespace).
	PodClient interface {
		List(ctx context.Context, opts metav1.ListOptions) (*corev1.PodList, error)
		UpdateStatus(ctx context.Context, pod *corev1.Pod, opts metav1.UpdateOptions) (*corev1.Pod, error)
		Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	}

	// PodsGetter has the client of each namespace: client.CoreV1(), of which P is corev1client.PodInterface.
	PodsGetter[P PodClient] interface {
		Pods(namespace string) P
	}
)
