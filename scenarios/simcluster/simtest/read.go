package simtest

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Nodes lists the cluster's nodes by name.
func (c *Cluster) Nodes() []corev1.Node {
	c.t.Helper()
	list, err := c.Kube.CoreV1().Nodes().List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	return list.Items
}

// Pods lists a namespace's pods by name, those that a label selector selects on one
// node; an empty string stands for all namespaces, labels, nodes.
func (c *Cluster) Pods(namespace, selector, node string) []corev1.Pod {
	c.t.Helper()
	o := metav1.ListOptions{LabelSelector: selector}
	if node != "" {
		o.FieldSelector = "spec.nodeName=" + node
	}
	list, err := c.Kube.CoreV1().Pods(namespace).List(c.t.Context(), o)
	if err != nil {
		c.t.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list.Items
}

// Ready counts the pods of a namespace that a label selector selects and that are
// ready: those that a Service would send requests to, so none that is being deleted.
func (c *Cluster) Ready(namespace, selector string) (n int) {
	c.t.Helper()
	for _, p := range c.Pods(namespace, selector, "") {
		if p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, isReady) {
			n++
		}
	}
	return n
}

func isReady(c corev1.PodCondition) bool {
	return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
}
