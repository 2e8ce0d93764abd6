package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/klog/v2"
)

// ensure writes the status of the node, which it creates if there is none.
func (n *NodeController) ensure(ctx context.Context) error {
	err := n.updateStatus(ctx)
	if !apierrors.IsNotFound(err) {
		return err
	}
	p, err := n.readiness(ctx)
	if err != nil {
		return err
	}
	err = n.create(ctx, p)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	// The cache lags behind, or another client was faster.
	live, err := n.get(ctx)
	if err != nil {
		return err
	}
	return n.report(ctx, live, p)
}

// create makes the node as it was given and is desired now.
func (n *NodeController) create(ctx context.Context, p readiness) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	desired := n.desired()
	node, err := annotated(composed(desired.node, p))
	if err != nil {
		return err
	}
	if n.keepSpec {
		if err := rememberTaints(node); err != nil {
			return err
		}
	}
	created, err := n.nodes.Create(ctx, node, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create node %s: %w", n.name, err)
	}
	if _, again := n.identity(); again {
		klog.FromContext(ctx).Info("node was gone and is created again", "node", n.name, "uid", created.UID)
	}
	n.adopt(created)
	n.note(desired, created, p)
	return nil
}

// An identity is which node of that name the server has.
type identity struct {
	name    string
	uid     types.UID
	version string // the newest one that this controller has seen
}

// UID is the node's UID as the server gave it: that of the newest node of this name that the controller has seen. It is
// "" before the node is registered.
func (n *NodeController) UID() types.UID {
	node, _ := n.identity()
	return node.uid
}

func (n *NodeController) identity() (node identity, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server == nil {
		return identity{name: n.name}, false
	}
	return *n.server, true
}

// adopt takes note of the node as the server has it. A node of another UID, which another client has made in place of
// ours, is ours from now on, and the lease's next owner.
func (n *NodeController) adopt(node *corev1.Node) {
	n.mu.Lock()
	before := n.server
	n.server = &identity{name: n.name, uid: node.UID, version: node.ResourceVersion}
	n.mu.Unlock()
	if before != nil && before.uid != node.UID && n.renewal != nil {
		n.renewal.trigger()
	}
}

// believable reports whether a node from a cache is the one that the controller knows, and no older.
func (n *NodeController) believable(node *corev1.Node) bool {
	known, ok := n.identity()
	if !ok {
		return true
	}
	if node.UID != known.uid {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(node.ResourceVersion, known.version)
	return err != nil || order >= 0
}

// recheck has the status updated at once where the shared cache shows that the node is gone, or another one.
func (n *NodeController) recheck() {
	if n.lister == nil {
		return
	}
	node, err := n.lister.Get(n.name)
	known, ok := n.identity()
	if ok && (apierrors.IsNotFound(err) || err == nil && node.UID != known.uid) {
		n.status.trigger()
	}
}
