// Package manager is the subject of docs/serve.md: a controller-runtime
// manager with one reconciler, and its test against a recorded roll.
package manager

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Drains tells an operator how many pods a node holds when it is cordoned, and
// when it is gone. One worker calls Reconcile, so it needs no lock.
type Drains struct {
	client.Client
	Out      io.Writer
	cordoned map[string]bool
}

// Setup adds the reconciler to a manager, with an index of pods by their node.
func (d *Drains) Setup(ctx context.Context, m ctrl.Manager) error {
	d.Client, d.cordoned = m.GetClient(), map[string]bool{}
	err := m.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
		return []string{o.(*corev1.Pod).Spec.NodeName}
	})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(m).For(&corev1.Node{}).Complete(d)
}

// Reconcile looks at one node.
func (d *Drains) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	var node corev1.Node
	err := d.Get(ctx, r.NamespacedName, &node)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	var pods corev1.PodList
	if err := d.List(ctx, &pods, client.MatchingFields{"spec.nodeName": r.Name}); err != nil {
		return ctrl.Result{}, err
	}
	switch was := d.cordoned[r.Name]; {
	case err != nil && was:
		fmt.Fprintf(d.Out, "%s is gone, %d pods left\n", r.Name, len(pods.Items))
		delete(d.cordoned, r.Name)
	case node.Spec.Unschedulable && !was:
		fmt.Fprintf(d.Out, "%s is cordoned, %d pods on it\n", r.Name, len(pods.Items))
		d.cordoned[r.Name] = true
	}
	return ctrl.Result{}, nil
}
