package fault_test

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

var requestBugs = []bug{
	{"stale-list:pods,verb=list", "asks the API server, and thinks that the answer is new", empties, "old-a is empty", "old-a still has web-1"},
	{"409:nodes,count=1", "gives up where another client was faster", marks, "update nodes old-a", ""},
	{"429:pods,verb=create,for=1h", "takes every refusal of an eviction for one by a budget", evicts, "create pods shop/web-1 eviction", "a budget protects web-1"},
	{"500:pods,verb=list", "takes an answer that it didn't get for an empty one", deletes, "", "delete nodes old-a"},
	{"timeout:nodes,verb=update+patch,event=1", "doesn't try again", marks, "update nodes old-a", ""},
}

func (w *fixture) wrote() string { return strings.TrimSpace(w.client.WriteLog()) }

// whenCordoned calls f once for each cordon.
func (w *fixture) whenCordoned(f func(*corev1.Node)) {
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{UpdateFunc: func(was, is any) {
		if n := is.(*corev1.Node); n.Spec.Unschedulable && !was.(*corev1.Node).Spec.Unschedulable {
			f(n.DeepCopy())
		}
	}})
}

// empties says of a node that goes whether pods are still on it.
func empties(w *fixture) func() string {
	said := ""
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{DeleteFunc: func(o any) {
		said = o.(*corev1.Node).Name + " is empty"
		pods, err := w.client.CoreV1().Pods("").List(w.ctx, metav1.ListOptions{})
		if err != nil {
			return
		}
		for _, p := range pods.Items {
			if p.Spec.NodeName == o.(*corev1.Node).Name {
				said = o.(*corev1.Node).Name + " still has " + p.Name
			}
		}
	}})
	return func() string { return said }
}

// marks cordoned nodes.
func marks(w *fixture) func() string {
	w.whenCordoned(func(n *corev1.Node) {
		n.Annotations = map[string]string{"seen": "yes"}
		_, _ = w.client.CoreV1().Nodes().Update(w.ctx, n, metav1.UpdateOptions{}) // the mistake
	})
	return w.wrote
}

// evicts the pods of cordoned nodes.
func evicts(w *fixture) func() string {
	said := ""
	w.whenCordoned(func(n *corev1.Node) {
		for _, o := range w.pods().GetStore().List() {
			p := o.(*corev1.Pod)
			if p.Spec.NodeName != n.Name {
				continue
			}
			err := w.client.CoreV1().Pods(p.Namespace).EvictV1(w.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace}})
			if apierrors.IsTooManyRequests(err) {
				said = "a budget protects " + p.Name
			}
		}
	})
	w.pods()
	return func() string { return said + w.wrote() }
}

// deletes cordoned nodes that have no pods.
func deletes(w *fixture) func() string {
	w.whenCordoned(func(n *corev1.Node) {
		pods, _ := w.client.CoreV1().Pods("").List(w.ctx, metav1.ListOptions{}) // the mistake
		for _, p := range pods.Items {
			if p.Spec.NodeName == n.Name {
				return
			}
		}
		_ = w.client.CoreV1().Nodes().Delete(w.ctx, n.Name, metav1.DeleteOptions{})
	})
	return w.wrote
}

// sets up new nodes in two steps.
func sets(w *fixture) func() string {
	var done []string
	w.on(w.nodes(), cache.ResourceEventHandlerFuncs{UpdateFunc: func(was, is any) {
		n := is.(*corev1.Node)
		if ready(was.(*corev1.Node)) || !ready(n) || n.Name != "new-c" {
			return
		}
		for _, step := range []struct{ word, patch string }{
			{"labelled", `{"metadata":{"labels":{"ready":"yes"}}}`}, {"tainted", `{"spec":{"taints":[]}}`},
		} {
			if _, err := w.client.CoreV1().Nodes().Patch(w.ctx, n.Name, types.MergePatchType, []byte(step.patch), metav1.PatchOptions{}); err != nil {
				return
			}
			done = append(done, step.word+" "+n.Name)
		}
	}})
	return func() string { return strings.Join(done, ", ") }
}
