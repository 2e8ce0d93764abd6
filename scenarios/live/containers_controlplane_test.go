//go:build controlplane

package live_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/live"
)

const meshed = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: meshed, title: a proxy crashes beside its application}
timeLimit: 20h
settle: 2m
cluster: {provider: eks, jitter: 0}
groups: [{name: workers, nodes: 1, instanceType: m5.large}]
workloads:
- name: web
  namespace: meshed
  replicas: 2
  containers: [{name: proxy, requests: {cpu: 50m, memory: 64Mi}, ready: 1s}]
faults:
- {at: 10s, crash: {workload: web, container: proxy}}
`

// Pods of several containers run, one container crashes and is started again alone, and kubectl shows it.
func TestContainers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	var before, after map[string]int
	count := func(ctx context.Context) map[string]int {
		out, err := kubectl(ctx, t, "get", "pods", "-n", "meshed", "--no-headers")
		if err != nil {
			t.Error(err)
		}
		rows := map[string]int{}
		for line := range strings.Lines(out) {
			if f := strings.Fields(line); len(f) > 3 {
				rows[fmt.Sprint(f[1], " ", f[2], " ", f[3])]++
			}
		}
		return rows
	}
	report, err := newRunner(t, written(t, meshed), live.BeforeBegin(func(ctx context.Context) error {
		before = count(ctx)
		return nil
	}), live.AtEnd(func(ctx context.Context) error {
		after = count(ctx)
		restarts := map[string]int32{}
		for _, p := range podsNow(ctx, t) {
			if p.Namespace != "meshed" {
				continue
			}
			for _, c := range p.Status.ContainerStatuses {
				restarts[c.Name] += c.RestartCount
			}
			if out, err := kubectl(ctx, t, "logs", "-n", "meshed", p.Name, "-c", "proxy"); err != nil || out == "" {
				t.Errorf("logs of %s: %q, %v", p.Name, out, err)
			}
		}
		if diff := cmp.Diff(map[string]int32{"web": 0, "proxy": 1}, restarts); diff != "" {
			t.Errorf("restarts (-want +got):\n%s", diff)
		}
		return nil
	})).Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Left) > 0 || report.Refused > 0 {
		t.Errorf("left %v, refused %d: want neither", report.Left, report.Refused)
	}
	if diff := cmp.Diff(map[string]int{"2/2 Running 0": 2}, before); diff != "" {
		t.Errorf("kubectl get pods at 0s (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"2/2 Running 0": 1, "2/2 Running 1": 1}, after); diff != "" {
		t.Errorf("kubectl get pods at the end (-want +got):\n%s", diff)
	}
}
