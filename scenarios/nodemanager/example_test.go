package nodemanager_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager"
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
)

// A spot pod and an on-demand pod wait; the cloud has just refused spot instances of that type.
func ExampleBindingNodeScaler_Plan() {
	now := time.Date(2026, 11, 20, 22, 21, 9, 0, time.UTC)
	marks := cloud.NewMarks()
	marks.Instance("m5.large", true, now.Add(-time.Minute))
	scaler := nodemanager.NewScaler(nodemanager.ScalerConfig{
		Standby:     []nodemanager.StandbyNodeSpec{{InstanceType: "m5.large", Count: 1}},
		Unavailable: marks.Unavailable,
		IdleGrace:   nodemanager.DefaultIdleGrace,
	})

	var pods []*api.Pod
	for name, policy := range map[string]api.SpotPolicy{"batch": api.SpotAlways, "web": api.SpotNever} {
		pod := &api.Pod{ObjectMeta: api.ObjectMeta{Name: name}}
		pod.Spec.InstanceType, pod.Spec.Spot.Policy = "m5.large", policy
		pod.Status.Phase = api.PodWaiting
		pods = append(pods, pod)
	}
	warm := api.NewNode("warm")
	warm.Spec.InstanceType, warm.Status.Phase = "m5.large", api.NodeAvailable

	changes, err := scaler.Plan([]*api.Node{warm}, pods, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("bindings:", changes.Bindings)
	for _, node := range changes.Start {
		fmt.Printf("start: %s for %q\n", node.Spec.InstanceType, node.Status.BoundPodName)
	}
	for _, unmet := range changes.Unmet {
		fmt.Println("unmet:", unmet.Pod, unmet.Reason)
	}
	// Output:
	// bindings: map[web:warm]
	// start: m5.large for ""
	// unmet: batch Unavailable
}

func ExampleChanges_LimitBoots() {
	scaler := nodemanager.NewScaler(nodemanager.ScalerConfig{
		Standby: []nodemanager.StandbyNodeSpec{{InstanceType: "m5.large", Count: 500}},
	})
	changes, err := scaler.Plan(nil, nil, time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC))
	if err != nil {
		fmt.Println(err)
		return
	}
	chance := rand.New(rand.NewPCG(1, 0))
	fmt.Println(len(changes.Start), len(changes.LimitBoots(nodemanager.MaxBootPerIteration, chance).Start))
	// Output: 500 10
}
