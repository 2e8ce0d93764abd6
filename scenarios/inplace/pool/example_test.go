package pool_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/nodesim/nodesim/scenarios/inplace"
	agentsv1alpha1 "github.com/nodesim/nodesim/scenarios/inplace/agents/v1alpha1"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/pool"
)

// One idle pod becomes a sandbox and idle again. The example plays the kubelet, which exchanges the containers.
func ExamplePool() {
	ctx := context.Background()
	box := fakekubelet.New("box-1", "idle:1")
	box.Labels["agentbox.navix.sh/sandbox-phase"] = "idle"
	c := fake.NewClientBuilder().WithStatusSubresource(&corev1.Pod{}).WithObjects(box).Build()
	idle := &agentsv1alpha1.SandboxPool{}
	idle.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: "idle:1"}}
	sandboxes := &pool.Pool{Client: c, Clock: testclock.NewFakeClock(fakekubelet.T0), Namespace: "shop", Idle: idle}

	show := func() *corev1.Pod {
		pod := &corev1.Pod{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(box), pod); err != nil {
			fmt.Println(err)
		}
		fmt.Println(inplace.GetSandboxPhase(pod), pod.Spec.Containers[0].Image)
		return pod
	}
	settle := func(pod *corev1.Pod) {
		if err := c.Status().Update(ctx, fakekubelet.Settle(pod)); err != nil {
			fmt.Println(err)
		}
		if _, err := sandboxes.Pass(ctx); err != nil {
			fmt.Println(err)
		}
	}
	if _, err := sandboxes.Claim(ctx, pool.Claim{SandboxID: "s-1", Images: map[string]string{"app": "box:1"}}); err != nil {
		fmt.Println(err)
	}
	settle(show())
	if _, err := sandboxes.Release(ctx, show(), pool.Stopped{Reason: "Stopped"}); err != nil {
		fmt.Println(err)
	}
	settle(show())
	show()
	// Output:
	// starting box:1
	// running box:1
	// stopping idle:1
	// idle idle:1
}
