package virtualnode

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
)

// Two virtual nodes share a controller and an informer. The pod of the third node is somebody else's.
func ExamplePodController() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods()
	pods.Informer()
	controller, err := NewPodController(PodControllerConfig{
		PodClient: client.CoreV1(), PodInformer: pods, EventRecorder: &record.FakeRecorder{},
		Provider: NewMockProvider(nil), SkipEnvironment: true,
		PodEventFilterFunc: PodFilters(FilterPodsForNodeName("one"), FilterPodsForNodeName("two")),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	factory.Start(ctx.Done())
	go func() { _ = controller.Run(ctx, 4) }() // Err has what it returns
	select {
	case <-controller.Ready():
	case <-controller.Done():
		fmt.Println(controller.Err())
		return
	}
	running, err := client.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, node := range []string{"three", "one"} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "on-" + node, UID: "1", ResourceVersion: "1"},
			Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main"}}},
		}
		if _, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			fmt.Println(err)
			return
		}
	}
	for event := range running.ResultChan() {
		if pod := event.Object.(*corev1.Pod); pod.Status.Phase != "" {
			fmt.Println(pod.Name, pod.Status.Phase, pod.Status.PodIP)
			break
		}
	}
	cancel()
	<-controller.Done()
	factory.Shutdown()
	// Output: on-one Running 5.6.7.8
}
