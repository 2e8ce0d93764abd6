package roller_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
	"github.com/nodesim/nodesim/scenarios/inplace/roller"
)

func ExamplePlan() {
	roll := roller.Roll{Images: map[string]string{"app": "web:2"}, MaxUnavailable: 1}
	updated := fakekubelet.New("web-0", "web:2")
	updating, _, _ := podupdate.Keys{}.Apply(fakekubelet.New("web-1", "web:1"), inplace.UpdateOptions{ContainerImages: roll.Images}, fakekubelet.T0)
	fakekubelet.Wait(updating, "app", "ImagePullBackOff", "")
	outdated := fakekubelet.New("web-2", "web:1")

	pods := []corev1.Pod{*outdated, *updated, *updating}
	decision, _ := roller.Plan(roll, pods, roller.State{}, fakekubelet.T0)
	fmt.Println(decision)
	fakekubelet.Settle(&pods[2])
	decision, _ = roller.Plan(roll, pods, roller.State{}, fakekubelet.T0)
	fmt.Println(decision)
	// Output:
	// rolling: 1 of 3 updated, 1 updating, 1 unavailable
	//   blocked: shop/web-2: 1 unavailable and 1 being changed: want fewer than 1
	// rolling: 1 of 3 updated, 1 updating, 1 unavailable
	//   mark shop/web-1
	//   blocked: shop/web-2: 1 unavailable and 1 being changed: want fewer than 1
}
