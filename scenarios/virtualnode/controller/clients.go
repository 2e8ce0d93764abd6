package controller

import (
	"context"
	"fmt"
	"time"

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

// A RequestLimit bounds how many of the nodes that share it register at once, and how many renew their leases at once. A
// thousand nodes of one program ask an API server for all at once, as those of a thousand machines hardly do: a server
// that takes longer for all of them than one request may last answers none in time, and each asks again.
//
// A node waits for its turn, in the order in which they came, and its request may last as long as ever from then on. Those
// that register and those that renew don't wait for each other. A renewal waits for half its lease's duration at most, so
// that none is late for want of a turn.
//
// It is safe for concurrent use.
type RequestLimit struct{ registrations, renewals turns }

// NewRequestLimit returns a limit of so many registrations, and of so many renewals. It panics where one isn't above 0.
func NewRequestLimit(registrations, renewals int) *RequestLimit {
	if registrations <= 0 || renewals <= 0 {
		panic(fmt.Sprintf("virtualnode: request limit: found %d registrations and %d renewals at once, want more than 0 of each", registrations, renewals))
	}
	return &RequestLimit{registrations: make(turns, registrations), renewals: make(turns, renewals)}
}

// WithNodeRequestLimit has the node wait for its turn to register, and to renew its lease, which it shares with all nodes
// of that limit. Without one, or with nil, it never waits.
func WithNodeRequestLimit(l *RequestLimit) NodeControllerOpt {
	return func(n *NodeController) error {
		n.limit = RequestLimit{}
		if l != nil {
			n.limit = *l
		}
		return nil
	}
}

// Turns has an element for each turn that is taken; nil has any number of them.
type turns chan struct{}

// take calls do when it has a turn, or without one when enough is received from, or returns the cause of the context's end.
func (t turns) take(ctx context.Context, enough <-chan time.Time, do func(context.Context) error) error {
	if t == nil {
		return do(ctx)
	}
	select {
	case t <- struct{}{}:
		defer func() { <-t }()
	case <-enough:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return do(ctx)
}
