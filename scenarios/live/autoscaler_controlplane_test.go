//go:build controlplane

package live_test

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/live"
)

// growth is a workload of which a node has room for one pod, beside its agents.
const growth = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: growth, title: pods that find no room get a node}
timeLimit: 48h
settle: 24h
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups:
- {name: workers, nodes: 1, max: 5, instanceType: m5.large}
workloads:
- {name: burst, namespace: shop, replicas: 1, requests: {cpu: 1200m, memory: 512Mi}}
autoscaler: {groups: [workers]}
`

// Pods that fit nowhere make nodes join, and the scheduler places them there; nodes
// that nobody needs any more go.
func TestAutoscaler(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	f := written(t, growth)
	swept(t, f)
	s := raise(ctx, t, plane(t).Config(), f, live.Speed(speed))
	if n := len(nodesNow(ctx, t)); n != 1 {
		t.Errorf("%d nodes at 0s, want 1", n)
	}
	scale := func(replicas string) {
		t.Helper()
		if _, err := kubectl(ctx, t, "scale", "deployment", "-n", "shop", "burst", "--replicas="+replicas); err != nil {
			t.Fatal(err)
		}
	}
	scale("3")
	until(ctx, t, "three pods run on as many nodes", func() (bool, error) {
		hosts := hostsOf(podsNow(ctx, t))
		return len(hosts) == 3, nil
	})
	if n := len(nodesNow(ctx, t)); n != 3 {
		t.Errorf("%d nodes for 3 pods, want 3", n)
	}
	scale("1")
	until(ctx, t, "the nodes that nobody needs are gone", func() (bool, error) {
		nodes, hosts := nodesNow(ctx, t), hostsOf(podsNow(ctx, t))
		return len(nodes) == 1 && len(hosts) == 1 && hosts[0] == nodes[0].Name, nil
	})
	s.end()
	<-s.done
	nothingLeft(ctx, t)
}

// hostsOf are the nodes on which pods of shop run.
func hostsOf(pods []corev1.Pod) (hosts []string) {
	for _, p := range pods {
		if p.Namespace == "shop" && p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil && !slices.Contains(hosts, p.Spec.NodeName) {
			hosts = append(hosts, p.Spec.NodeName)
		}
	}
	return hosts
}
