//go:build controlplane

package live_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/live"
)

// growth is a workload that outgrows its node, and shrinks again.
const growth = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: growth, title: pods that find no room get a node}
timeLimit: 24h
settle: 30m
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups:
- {name: workers, nodes: 1, max: 5, instanceType: m5.large}
workloads:
- {name: burst, namespace: shop, replicas: 1, requests: {cpu: 900m, memory: 512Mi}}
autoscaler: {groups: [workers]}
faults:
- {at: 10s, scale: {workload: burst, replicas: 4}}
- {when: {pods: running, count: 4, workload: burst, delay: 10m}, scale: {workload: burst, replicas: 1}}
`

// Pods that fit nowhere make nodes join, and the scheduler places them there; nodes
// that nobody needs any more go.
func TestAutoscaler(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	f := written(t, growth)
	swept(t, f)
	var last []corev1.Node
	s := raise(ctx, t, plane(t).Config(), f, live.Speed(speed), live.AtEnd(func(ctx context.Context) error {
		last = nodesNow(ctx, t)
		return nil
	}))
	if n := len(nodesNow(ctx, t)); n != 1 {
		t.Errorf("%d nodes at 0s, want 1", n)
	}
	hosts := map[string]bool{}
	until(ctx, t, "all pods run", func() (bool, error) {
		clear(hosts)
		running := 0
		for _, p := range podsNow(ctx, t) {
			if p.Namespace == "shop" && p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				hosts[p.Spec.NodeName] = true
				running++
			}
		}
		return running == 4, nil
	})
	most := len(nodesNow(ctx, t))
	if len(hosts) < 2 || most < len(hosts) {
		t.Errorf("the pods run on %d of %d nodes: want them on 2 at least", len(hosts), most)
	}
	s.wait()
	if len(last) >= most || len(last) == 0 {
		t.Errorf("%d of %d nodes are left in the end: want fewer, and one at least", len(last), most)
	}
	nothingLeft(ctx, t)
}
