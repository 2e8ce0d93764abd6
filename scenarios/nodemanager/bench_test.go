package nodemanager_test

import (
	"fmt"
	"testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager"
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// BenchmarkPlan matches as many pods as nodes, of fifty types in three zones; the time per pod must not grow with them.
func BenchmarkPlan(b *testing.B) {
	for _, size := range []int{50, 500, 5000, 50000} {
		b.Run(fmt.Sprintf("%dx%d", size, size), func(b *testing.B) {
			pods, nodes := crowd(size)
			s := nodemanager.NewScaler(nodemanager.ScalerConfig{IdleGrace: nodemanager.DefaultIdleGrace})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Plan(nodes, pods, start); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/pod")
		})
	}
}

func crowd(size int) ([]*api.Pod, []*api.Node) {
	pods, nodes := make([]*api.Pod, size), make([]*api.Node, size)
	for i := range size {
		kind, zone := fmt.Sprintf("type-%d", i%50), string(rune('a'+i%3))
		pod := &api.Pod{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("pod-%06d", i)}}
		pod.Spec.InstanceType, pod.Spec.Spot.Policy, pod.Status.Phase = kind, api.SpotNever, api.PodWaiting
		if i%2 == 0 {
			pod.Spec.Placement.AvailabilityZone = zone
		}
		pods[i] = pod
		node := api.NewNode(fmt.Sprintf("node-%06d", size-i))
		node.Spec.InstanceType, node.Spec.Placement.AvailabilityZone = kind, zone
		node.Status.Phase = api.NodeAvailable
		nodes[i] = node
	}
	return pods, nodes
}
