// Package drainer is the subject of docs/testing.md: a reconciler that drains
// nodes, and its test in a simulated cluster.
package drainer

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Wanted is the label of a node that is to be drained.
const Wanted = "drain.example.com/wanted"

// Drainer drains the nodes with the label: it cordons, and evicts all pods but those of
// DaemonSets. What a budget refuses it tries again after five seconds.
type Drainer struct {
	client.Client
}

// SetupWithManager adds the reconciler to a manager, with an index of pods by their node.
func (d *Drainer) SetupWithManager(m ctrl.Manager) error {
	d.Client = m.GetClient()
	err := m.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
		return []string{o.(*corev1.Pod).Spec.NodeName}
	})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(m).For(&corev1.Node{}).Complete(d)
}

// Reconcile looks at one node.
func (d *Drainer) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	var node corev1.Node
	if err := d.Get(ctx, r.NamespacedName, &node); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if node.Labels[Wanted] == "" {
		return ctrl.Result{}, nil
	}
	if !node.Spec.Unschedulable {
		before := node.DeepCopy()
		node.Spec.Unschedulable = true
		if err := d.Patch(ctx, &node, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
	}
	var pods corev1.PodList
	if err := d.List(ctx, &pods, client.MatchingFields{"spec.nodeName": node.Name}); err != nil {
		return ctrl.Result{}, err
	}
	left := false
	for _, p := range pods.Items {
		if o := metav1.GetControllerOf(&p); o != nil && o.Kind == "DaemonSet" {
			continue
		}
		left = true
		if p.DeletionTimestamp != nil {
			continue
		}
		err := d.SubResource("eviction").Create(ctx, &p, &policyv1.Eviction{})
		if err != nil && !apierrors.IsTooManyRequests(err) && !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
	}
	if left {
		return ctrl.Result{RequeueAfter: 5 * time.Second}, nil
	}
	return ctrl.Result{}, nil
}
