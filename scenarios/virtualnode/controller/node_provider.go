package controller

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// An ErrorHandler is asked about an error; nil from it means that the error is handled and that continuing, or one
// more try, makes sense. Otherwise what it returns takes the error's place.
type ErrorHandler func(context.Context, error) error

// A NodeProvider replaces a node's kubelet: it says whether the node lives, and what it is like. Its methods are
// called from several goroutines.
type NodeProvider interface {
	// Ping says whether the node lives. It is called again and again, never twice at once, and must return when its
	// context ends. While it fails, or doesn't return in time, the node's status isn't written and its lease not renewed.
	Ping(context.Context) error

	// NotifyNodeStatus registers a callback, once, when the controller starts, and must not block. The provider calls it
	// whenever the node has changed, from any goroutine, with the whole node: its status, labels and annotations (and its
	// taints, see WithNodeSpecReconciliation) replace the former ones. The callback copies the node, never blocks, and
	// does nothing once ctx has ended; of several calls in a row the last one counts, and those before it may never be
	// written.
	NotifyNodeStatus(ctx context.Context, cb func(*corev1.Node))
}

// A NaiveNodeProvider is a node that always lives and never changes.
type NaiveNodeProvider struct{}

// Ping implements NodeProvider: the node lives until ctx ends.
func (NaiveNodeProvider) Ping(ctx context.Context) error { return ctx.Err() }

// NotifyNodeStatus implements NodeProvider. It never calls the callback.
func (n NaiveNodeProvider) NotifyNodeStatus(_ context.Context, _ func(*corev1.Node)) {}

// A NaiveNodeProviderV2 is a node that always lives and changes when UpdateStatus says so. Make it with
// NewNaiveNodeProvider, one for each NodeController. Its methods are safe for concurrent use.
type NaiveNodeProviderV2 struct {
	mu         sync.Mutex
	notify     func(*corev1.Node)
	registered chan struct{} // closed once notify is there
}

// NewNaiveNodeProvider returns a provider that hands the nodes of UpdateStatus to its controller.
func NewNaiveNodeProvider() *NaiveNodeProviderV2 {
	return &NaiveNodeProviderV2{registered: make(chan struct{})}
}

// Ping implements NodeProvider: the node lives until ctx ends.
func (*NaiveNodeProviderV2) Ping(ctx context.Context) error { return ctx.Err() }

// NotifyNodeStatus implements NodeProvider. A later registration takes the place of an earlier one.
func (n *NaiveNodeProviderV2) NotifyNodeStatus(_ context.Context, f func(*corev1.Node)) {
	ready := n.ready()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.notify == nil {
		close(ready)
	}
	n.notify = f
}

// UpdateStatus hands a node to the controller. It waits until a controller has started, at most until ctx ends, whose
// error it then returns. It doesn't wait until the status is written.
func (n *NaiveNodeProviderV2) UpdateStatus(ctx context.Context, node *corev1.Node) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-n.ready():
	}
	n.mu.Lock()
	notify := n.notify
	n.mu.Unlock()
	notify(node)
	return nil
}

// ready is the channel of the registration; it is made here for a provider that no constructor has made.
func (n *NaiveNodeProviderV2) ready() chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.registered == nil {
		n.registered = make(chan struct{})
	}
	return n.registered
}
