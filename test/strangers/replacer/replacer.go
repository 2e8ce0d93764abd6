// Package replacer is a controller of controller-runtime as many teams have one: it replaces a cluster's nodes one after the
// other. It knows nothing of nodesim, and keeps its state in the cluster, so that another process can go on with what one
// has begun.
package replacer

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Generation is the label of a node that isn't to be replaced.
const Generation = "replacer.example.com/generation"

// A Replacer replaces the nodes that don't have the label. For each it launches a machine, waits until its node is Ready, cordons and
// drains the old node with evictions, and deletes it.
type Replacer struct {
	client.Client
	// Launch makes the node of a new machine.
	Launch func(name string) *corev1.Node
}

// SetupWithManager adds the reconciler to a manager. All nodes are one request, for one is replaced at a time.
func (r *Replacer) SetupWithManager(m ctrl.Manager) error {
	r.Client = m.GetClient()
	err := m.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
		return []string{o.(*corev1.Pod).Spec.NodeName}
	})
	if err != nil {
		return err
	}
	all := func(context.Context, client.Object) []ctrl.Request {
		return []ctrl.Request{{NamespacedName: types.NamespacedName{Name: "all"}}}
	}
	return ctrl.NewControllerManagedBy(m).Named("replacer").
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(all)).
		Complete(reconcile.Reconciler(r))
}

// Reconcile goes one step further with the first node that is to be replaced.
func (r *Replacer) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	var list corev1.NodeList
	if err := r.List(ctx, &list); err != nil {
		return ctrl.Result{}, err
	}
	slices.SortFunc(list.Items, func(a, b corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	i := slices.IndexFunc(list.Items, func(n corev1.Node) bool { return n.Labels[Generation] == "" })
	if i < 0 {
		return ctrl.Result{}, nil
	}
	old := &list.Items[i]
	name := old.Name + "-next"
	j := slices.IndexFunc(list.Items, func(n corev1.Node) bool { return n.Name == name })
	if j < 0 {
		node := r.Launch(name)
		node.Labels[Generation] = "next"
		err := r.Create(ctx, node)
		if apierrors.IsAlreadyExists(err) {
			err = nil // the cache hasn't got it yet
		}
		return ctrl.Result{}, err
	}
	if !isReady(&list.Items[j]) {
		return ctrl.Result{}, nil // its change is a request
	}
	return r.drain(ctx, old)
}

func isReady(n *corev1.Node) bool {
	return !n.Spec.Unschedulable && slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// drain evicts what is on a node, and deletes it when nothing but pods of DaemonSets is left. What a budget refuses it tries again.
func (r *Replacer) drain(ctx context.Context, node *corev1.Node) (ctrl.Result, error) {
	if !node.Spec.Unschedulable {
		before := node.DeepCopy()
		node.Spec.Unschedulable = true
		if err := r.Patch(ctx, node, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.MatchingFields{"spec.nodeName": node.Name}); err != nil {
		return ctrl.Result{}, err
	}
	left := false
	for _, pod := range pods.Items {
		if o := metav1.GetControllerOf(&pod); o != nil && o.Kind == "DaemonSet" {
			continue
		}
		left = true
		if pod.DeletionTimestamp != nil {
			continue
		}
		err := r.SubResource("eviction").Create(ctx, &pod, &policyv1.Eviction{})
		if err != nil && !apierrors.IsTooManyRequests(err) && !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
	}
	if left {
		return ctrl.Result{RequeueAfter: 5 * time.Second}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(r.Delete(ctx, node))
}
