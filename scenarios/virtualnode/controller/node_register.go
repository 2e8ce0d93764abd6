package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// ensure writes the status of the node, which it creates if there is none.
func (n *NodeController) ensure(ctx context.Context) error {
	err := n.updateStatus(ctx)
	if !apierrors.IsNotFound(err) {
		return err
	}
	p, err := n.pulse(ctx)
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

// create makes the node as it was given and is wished now.
func (n *NodeController) create(ctx context.Context, p pulse) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	wish := n.wish()
	node, err := annotated(composed(wish.node, p))
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
	n.note(wish, created, p)
	return nil
}
