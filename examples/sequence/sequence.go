// Package sequence is the subject of docs/hunt.md: a reconciler that drains nodes one after the other, with a bug, and the tests in which
// a search finds it.
package sequence

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Wanted is the label of a node that is to be drained once.
const Wanted = "sequence.example.com/wanted"

// Sequence drains the nodes with the label, one at a time: it cordons a node, evicts all pods but those of DaemonSets, uncordons the
// node when it is empty, takes the label away, and continues with the next one.
type Sequence struct {
	client.Client
	// SkipsGone has it continue with the next node where the one that it drains is gone. Without that, it waits for a node that
	// never comes back: the bug.
	SkipsGone bool

	now string // the node that it drains
}

// SetupWithManager adds the reconciler to a manager, with an index of pods by their node.
func (s *Sequence) SetupWithManager(m ctrl.Manager) error {
	s.Client = m.GetClient()
	err := m.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
		return []string{o.(*corev1.Pod).Spec.NodeName}
	})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(m).For(&corev1.Node{}).Complete(s)
}

// Reconcile takes the next step with the node that is being drained, whichever node has changed.
func (s *Sequence) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	if s.now == "" {
		var nodes corev1.NodeList
		if err := s.List(ctx, &nodes, client.HasLabels{Wanted}); err != nil || len(nodes.Items) == 0 {
			return ctrl.Result{}, err
		}
		s.now = slices.MinFunc(nodes.Items, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) }).Name // a cache has no order
	}
	var node corev1.Node
	err := s.Get(ctx, client.ObjectKey{Name: s.now}, &node)
	if apierrors.IsNotFound(err) && s.SkipsGone {
		s.now = ""
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if node.Labels[Wanted] == "" { // the cache has just learnt of it
		s.now = ""
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	if !node.Spec.Unschedulable {
		return ctrl.Result{RequeueAfter: time.Second}, s.change(ctx, &node, func() { node.Spec.Unschedulable = true })
	}
	left, err := s.evict(ctx, node.Name)
	if err != nil || left {
		return ctrl.Result{RequeueAfter: 5 * time.Second}, err
	}
	return ctrl.Result{RequeueAfter: time.Second}, s.change(ctx, &node, func() {
		node.Spec.Unschedulable = false
		delete(node.Labels, Wanted)
	})
}

func (s *Sequence) change(ctx context.Context, node *corev1.Node, f func()) error {
	before := node.DeepCopy()
	f()
	return client.IgnoreNotFound(s.Patch(ctx, node, client.MergeFrom(before)))
}

// evict asks for the eviction of a node's pods, and reports whether any is left.
func (s *Sequence) evict(ctx context.Context, node string) (left bool, err error) {
	var pods corev1.PodList
	if err := s.List(ctx, &pods, client.MatchingFields{"spec.nodeName": node}); err != nil {
		return false, err
	}
	for _, p := range pods.Items {
		if o := metav1.GetControllerOf(&p); o != nil && o.Kind == "DaemonSet" {
			continue
		}
		left = true
		if p.DeletionTimestamp != nil {
			continue
		}
		err := s.SubResource("eviction").Create(ctx, &p, &policyv1.Eviction{})
		if err != nil && !apierrors.IsTooManyRequests(err) && !apierrors.IsNotFound(err) {
			return false, err
		}
	}
	return left, nil
}
