//go:build controlplane

package virtualnode_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

// A whole node on a real API server: a pod that is bound to it runs, and leaves when it is deleted, long before its grace
// period is over; then the node is stopped, and nothing of it runs any more.
func TestWholeNodeOnARealAPIServer(t *testing.T) {
	p := newPlot(t)
	namespace, err := p.admin.CoreV1().Namespaces().Create(p.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "whole-" + p.node.Name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	provider := virtualnode.NewMockProvider(nil)
	node, err := virtualnode.NewNode(p.node.Name, kubernetes.NewForConfigOrDie(fast(p.cluster.Config())), provider)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(p.ctx)
	t.Cleanup(func() {
		cancel()
		<-node.Done()
	})
	go func() { _ = node.Run(ctx) }()
	select {
	case <-node.Ready():
	case <-node.Done():
		t.Fatal(node.Err())
	}
	live := p.live()
	if c := live.Status.Conditions; len(c) != 1 || c[0].Type != corev1.NodeReady || c[0].Status != corev1.ConditionTrue {
		t.Errorf("conditions %+v: want Ready alone", c)
	}
	if got := live.Status.Allocatable.Pods().Value(); got != 20 {
		t.Errorf("room for %d pods: want the provider's 20", got)
	}
	pods := p.admin.CoreV1().Pods(namespace.Name)
	history, err := pods.Watch(p.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer history.Stop()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{
		NodeName: p.node.Name, Containers: []corev1.Container{{Name: "main", Image: "registry.example/app:1"}},
	}}
	if _, err := pods.Create(p.ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ran, gone := false, false
	for event := range history.ResultChan() {
		if gone = event.Type == watch.Deleted; gone {
			break
		}
		if !ran && event.Object.(*corev1.Pod).Status.Phase == corev1.PodRunning {
			ran = true
			if err := pods.Delete(p.ctx, "web", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if held, err := provider.GetPods(p.ctx); !ran || !gone || err != nil || len(held) > 0 {
		t.Errorf("the pod ran: %v, is gone: %v; the provider has %d pods, %v: want it gone", ran, gone, len(held), err)
	}
	p.until("an Event of the pod", func() bool {
		events, err := p.admin.CoreV1().Events(namespace.Name).List(p.ctx, metav1.ListOptions{FieldSelector: "reason=ProviderCreateSuccess"})
		return err == nil && len(events.Items) == 1
	})
	cancel()
	<-node.Done()
	if err := node.Err(); err != nil {
		t.Error(err)
	}
	if p.live() == nil || p.lease() == nil {
		t.Error("the node or its lease is gone: want both left")
	}
}
