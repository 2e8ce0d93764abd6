package controllers

import "github.com/nodesim/nodesim/scenarios/internal/kube"

// barePods are pods without a controller: nothing replaces one that goes. All that there are have the same owner, none, so
// that it must keep no count of those whose changes it is told.
type barePods struct{ *workload }

func (barePods) changed(kube.Change, *kube.Pod, *kube.Pod) {}

// scaled creates them, once.
func (b barePods) scaled(int) {
	for range b.Replicas {
		if err := b.env.API.CreatePod(b.generated()); err != nil {
			b.env.Fail(err)
			return
		}
	}
}
