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

func ExampleNodeController() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	client := fake.NewSimpleClientset()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-1-10", Labels: map[string]string{corev1.LabelTopologyZone: "us-east-1a"}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	provider := virtualnode.NewNaiveNodeProvider()
	controller, err := virtualnode.NewNodeController(provider, node, client.CoreV1().Nodes(),
		virtualnode.WithNodeEnableLeaseV1(client.CoordinationV1().Leases(corev1.NamespaceNodeLease), 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { _ = controller.Run(ctx) }()
	select {
	case <-controller.Ready():
	case <-controller.Done():
		fmt.Println(controller.Err())
		return
	}
	registered, err := client.CoreV1().Nodes().Get(ctx, "ip-10-0-1-10", metav1.GetOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(registered.Name, registered.Labels[corev1.LabelTopologyZone], registered.Status.Conditions[0].Status)
	cancel()
	<-controller.Done()
	fmt.Println("stopped:", controller.Err())
	// Output:
	// ip-10-0-1-10 us-east-1a True
	// stopped: <nil>
}

func ExampleErrConflictingLeaseControllerConfiguration() {
	client := fake.NewSimpleClientset()
	leases := client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	_, err := virtualnode.NewNodeController(virtualnode.NaiveNodeProvider{}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-1-10"}},
		client.CoreV1().Nodes(), virtualnode.WithNodeEnableLeaseV1(leases, 40), virtualnode.WithNodeEnableLeaseV1(leases, 20))
	fmt.Println(err)
	// Output:
	// node controller of ip-10-0-1-10: node lease: multiple, conflicting lease configurations have been put into place: want one of the options for leases, once
}
