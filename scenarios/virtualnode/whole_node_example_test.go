package virtualnode_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

func ExampleNode() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	client := fake.NewClientset()
	node, err := virtualnode.NewNode("ip-10-0-1-10", client, virtualnode.NewMockProvider(nil), func(c *virtualnode.NodeConfig) {
		c.Node.Labels[corev1.LabelTopologyZone] = "us-east-1a"
		c.Workers = 4
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { _ = node.Run(ctx) }() // Err has what it returns
	select {
	case <-node.Ready():
	case <-node.Done():
		fmt.Println(node.Err())
		return
	}
	registered, err := client.CoreV1().Nodes().Get(ctx, "ip-10-0-1-10", metav1.GetOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(registered.Status.Conditions[0].Type, registered.Labels[corev1.LabelTopologyZone], registered.Status.Capacity.Pods(), "pods")
	pods := client.CoreV1().Pods("default")
	history, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "1", ResourceVersion: "1"},
		Spec:       corev1.PodSpec{NodeName: "ip-10-0-1-10", Containers: []corev1.Container{{Name: "main"}}},
	}
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	for event := range history.ResultChan() {
		if pod := event.Object.(*corev1.Pod); pod.Status.Phase != "" {
			fmt.Println(pod.Name, pod.Status.Phase)
			break
		}
	}
	cancel()
	<-node.Done()
	fmt.Println("stopped:", node.Err())
	// Output:
	// Ready us-east-1a 20 pods
	// web Running
	// stopped: <nil>
}
