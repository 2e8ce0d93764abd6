package virtualnode

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// mute is a provider that doesn't notify, so it is polled; it shows the environments that it gets.
type mute struct{ PodLifecycleHandler }

func (p mute) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	for _, v := range pod.Spec.Containers[0].Env {
		fmt.Println(v.Name + "=" + v.Value)
	}
	return p.PodLifecycleHandler.CreatePod(ctx, pod)
}

// A whole node over a provider that is polled. What a container's environment takes from a config map and from the pod
// is resolved before the provider gets it.
func ExampleNode_environment() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	client := fake.NewClientset(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"}, Data: map[string]string{"color": "green"},
	})
	node, err := NewNode("ip-10-0-1-10", client, mute{NewMockProvider(nil)}, func(c *NodeConfig) {
		c.Pods = func(p *PodControllerConfig) { p.PodPollInterval = time.Millisecond }
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
	pods := client.CoreV1().Pods("default")
	history, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	from := corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "shop"}, Key: "color"}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "1", ResourceVersion: "1"},
		Spec: corev1.PodSpec{NodeName: "ip-10-0-1-10", EnableServiceLinks: new(false), Containers: []corev1.Container{{
			Name: "main", Env: []corev1.EnvVar{
				{Name: "COLOR", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &from}},
				{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			},
		}}},
	}
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	for event := range history.ResultChan() {
		if pod := event.Object.(*corev1.Pod); pod.Status.Phase == corev1.PodRunning {
			fmt.Println(pod.Name, pod.Status.Phase)
			break
		}
	}
	cancel()
	<-node.Done()
	// Output:
	// COLOR=green
	// POD=web
	// web Running
}
