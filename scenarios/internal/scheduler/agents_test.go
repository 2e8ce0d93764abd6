package scheduler_test

import (
	"fmt"
	"testing"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// The latest template of a DaemonSet takes its room once, and only on nodes that it may run on.
func TestAgentsTakeRoomOnNewNodes(t *testing.T) {
	of := func(kind string, cpu int64, selector ...string) *kube.Pod {
		p := &kube.Pod{Template: &kube.Template{Containers: []kube.ContainerSpec{{Name: "c", CPU: cpu, Memory: 1}}}}
		p.Owner = &kube.Owner{Kind: kind, Name: fmt.Sprint(selector)}
		if len(selector) > 0 {
			p.Template.NodeSelector = kube.Pairs{}.With(selector[0], selector[1])
		}
		return p
	}
	var a scheduler.Agents
	proxy := of("DaemonSet", 100)
	for _, c := range []struct {
		pod  *kube.Pod
		want bool
	}{
		{proxy, true},
		{proxy, false},
		{of("ReplicaSet", 1000), false},
		{of("DaemonSet", 10000, "disk", "ssd"), true},
		{of("DaemonSet", 200), true},
		{proxy, false},
	} {
		if found := a.Saw(c.pod); found != c.want {
			t.Errorf("%s of %d: found new %t, want %t", c.pod.Owner.Kind, c.pod.Template.Containers[0].CPU, found, c.want)
		}
	}
	room := component.Room{CPU: 4000, Memory: 10, Pods: 20}
	want := component.Room{CPU: 3800, Memory: 9, Pods: 19}
	if found := a.Left(&scheduler.Scheduler{}, room, &scheduler.NodeGroup{}); found != want {
		t.Errorf("found %+v, want %+v", found, want)
	}
}
