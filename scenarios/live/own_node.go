package live

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/nodesim/nodesim/internal/kubeclient"
)

// ownNode is the API's nodes as the kubelet of one machine may see them: the Node
// that it has registered, by its UID, and no other one of that name. A real kubelet
// goes by the name and keeps whatever Node bears it alive
// (k8s.io/kubernetes, pkg/kubelet/kubelet_node_status.go, tryUpdateNodeStatus); here
// that one would be taken for ours, and removed in the end.
//
// It may be used from any goroutine.
type ownNode struct {
	kubeclient.Resource[*corev1.Node, *corev1.NodeList]
	label string

	mu  sync.Mutex
	uid types.UID // "" until it is registered
}

// Create makes the Node ours. Its conditions are of this moment, that of their heartbeats: a kubelet builds its first
// status anew for each attempt to register (k8s.io/kubernetes, pkg/kubelet/kubelet_node_status.go,
// registerWithAPIServer), and kube-apiserver may have been away since the scenario's kubelet began.
func (o *ownNode) Create(ctx context.Context, node *corev1.Node, opts metav1.CreateOptions) (*corev1.Node, error) {
	first := *node
	first.Status.Conditions = slices.Clone(node.Status.Conditions)
	for i := range first.Status.Conditions {
		if c := &first.Status.Conditions[i]; c.LastTransitionTime.Before(&c.LastHeartbeatTime) {
			c.LastTransitionTime = c.LastHeartbeatTime
		}
	}
	if err := noteStatus(&first); err != nil {
		return nil, err
	}
	return o.take(o.Resource.Create(ctx, &first, opts))
}

// appliedStatus is the annotation in which a controller notes the status that it writes
// (github.com/virtual-kubelet/virtual-kubelet, node/node.go).
const appliedStatus = "virtual-kubelet.io/last-applied-node-status"

// noteStatus notes a node's status anew where its controller has: where the note were another one than the status, the
// controller would write both again as soon as anybody else has changed the node.
func noteStatus(node *corev1.Node) error {
	if node.Annotations[appliedStatus] == "" {
		return nil
	}
	text, err := json.Marshal(node.Status)
	if err != nil {
		return fmt.Errorf("encode the status of node %s: %w", node.Name, err)
	}
	node.Annotations = maps.Clone(node.Annotations)
	node.Annotations[appliedStatus] = string(text)
	return nil
}

// Patch makes the Node ours, which names its UID.
func (o *ownNode) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, opts metav1.PatchOptions, sub ...string) (*corev1.Node, error) {
	return o.take(o.Resource.Patch(ctx, name, kind, data, opts, sub...))
}

// Get finds no foreign Node.
func (o *ownNode) Get(ctx context.Context, name string, opts metav1.GetOptions) (*corev1.Node, error) {
	return o.mine(o.Resource.Get(ctx, name, opts))
}

func (o *ownNode) take(node *corev1.Node, err error) (*corev1.Node, error) {
	if err == nil {
		o.mu.Lock()
		o.uid = node.UID
		o.mu.Unlock()
	}
	return node, err
}

func (o *ownNode) mine(node *corev1.Node, err error) (*corev1.Node, error) {
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	uid := o.uid
	o.mu.Unlock()
	nodes := corev1.Resource("nodes")
	switch {
	case uid != "" && uid != node.UID:
		return nil, apierrors.NewNotFound(nodes, node.Name)
	case uid == "" && node.Labels[Label] != o.label:
		return nil, foreign(nodes, node.Name, o.label)
	}
	return node, nil
}

// ownCache is the same for what a cache holds.
type ownCache struct {
	corev1listers.NodeLister
	own *ownNode
}

// Get finds no foreign Node.
func (c ownCache) Get(name string) (*corev1.Node, error) { return c.own.mine(c.NodeLister.Get(name)) }
