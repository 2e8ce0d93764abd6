//go:build controlplane

package live_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
)

// threeGroups has a roll of the first group alone.
const threeGroups = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: fleet, title: three node groups}
cluster: {provider: eks, kubernetesVersion: "1.36"}
groups:
- {name: a, nodes: 2}
- {name: b, nodes: 2}
- {name: c, nodes: 2}
workloads:
- {name: web, namespace: shop, replicas: 12, requests: {cpu: 100m, memory: 64Mi}, spread: host}
budgets:
- {workload: web, maxUnavailable: 1}
roll: {strategy: eks-default, groups: [a], at: 10m}
`

// Two processes run the groups of one scenario. One of them is killed; a third, which had nothing to do, takes its nodes over, and none of
// them is replaced. The scenario ends when the roll of the other one has, all processes end with it, and nothing is left.
func TestShards(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	file := filepath.Join(t.TempDir(), "fleet.yaml")
	if err := os.WriteFile(file, []byte(threeGroups), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := scenarios.Parse(file, []byte(threeGroups))
	if err != nil {
		t.Fatal(err)
	}
	f, err := doc.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(t, plane(t).Config())
	swept(t, f)
	start := func() *process { return startProcess(t, file, "--shards", "2", "--speed", "30x", "-o", "json") }
	record := func(shard int, ok func(*coordinationv1.Lease) bool) func() (bool, error) {
		return func() (bool, error) {
			have, err := client(t).CoordinationV1().Leases(live.RecordNamespace).Get(ctx, fmt.Sprintf("%s-%d", live.RecordName, shard), metav1.GetOptions{})
			return err == nil && ok(have), err
		}
	}
	noted := func(key string) func(*coordinationv1.Lease) bool {
		return func(l *coordinationv1.Lease) bool { return l.Annotations["nodesim.dev/"+key] == "true" }
	}
	of := func(p *process) func(*coordinationv1.Lease) bool {
		return func(l *coordinationv1.Lease) bool {
			return strings.Contains(ptr.Deref(l.Spec.HolderIdentity, ""), fmt.Sprintf(":%d:", p.Process.Pid))
		}
	}
	first := start()
	until(ctx, t, "the first process has shard 0", record(0, of(first)))
	second := start()
	until(ctx, t, "the second process has shard 1", record(1, of(second)))
	third := start()
	until(ctx, t, "shard 1 has begun", record(1, noted("begun")))
	was, byGroup := map[string]types.UID{}, map[string]int{}
	for _, n := range nodesNow(ctx, t) {
		was[n.Name] = n.UID
		byGroup[n.Labels["eks.amazonaws.com/nodegroup"]]++
	}
	if len(was) != 6 || byGroup["a"] != 2 || byGroup["b"] != 2 || byGroup["c"] != 2 {
		t.Fatalf("found nodes %v, of groups %v", was, byGroup)
	}
	if err := second.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = second.Wait() // it was killed
	until(ctx, t, "the third process has shard 1", record(1, func(l *coordinationv1.Lease) bool {
		return of(third)(l) && ptr.Deref(l.Spec.LeaseTransitions, 0) == 1 && ptr.Deref(l.Spec.LeaseDurationSeconds, 0) == 10
	}))
	until(ctx, t, "the roll is over", record(0, noted("rolled")))
	for _, n := range nodesNow(ctx, t) {
		if group := n.Labels["eks.amazonaws.com/nodegroup"]; group != "a" && n.UID != was[n.Name] {
			t.Errorf("node %s of group %s is another one", n.Name, group)
		}
	}
	for _, p := range []*process{first, third} {
		if err := p.Wait(); err != nil {
			t.Errorf("a process ends with %v:\n%s", err, p.err.String())
		}
	}
	if text := first.err.String(); !strings.Contains(text, "roll: complete") {
		t.Errorf("the process that rolls says %q", text)
	}
	if text := third.err.String(); !strings.Contains(text, "other processes run all 2 shards") || !strings.Contains(text, "resuming it") {
		t.Errorf("the process that waited says %q", text)
	}
	nothingLeft(ctx, t)
}

// Processes that are ended leave what they made to the others, and the last removes it. One that waits ends with them.
func TestShardsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	file := filepath.Join(t.TempDir(), "fleet.yaml")
	if err := os.WriteFile(file, []byte(threeGroups), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, plane(t).Config())
	var all []*process
	for range 2 {
		all = append(all, startProcess(t, file, "--shards", "2", "--speed", "30x", "-o", "json"))
	}
	until(ctx, t, "all nodes are Ready", func() (bool, error) { return len(nodesNow(ctx, t)) == 6, nil })
	other := startProcess(t, file, "--shards", "3", "--speed", "30x", "-o", "json")
	if err := other.Wait(); err == nil || !strings.Contains(other.err.String(), "shards=2") {
		t.Errorf("a process with another number of shards says %q", other.err.String())
	}
	alone := startProcess(t, file, "--speed", "30x", "-o", "json")
	if err := alone.Wait(); err == nil || !strings.Contains(alone.err.String(), "shards=2") {
		t.Errorf("a process without shards says %q", alone.err.String())
	}
	for i, p := range all {
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = p.Wait() // interrupted
		if text := p.err.String(); strings.Contains(text, "the last of them removes it") != (i == 0) || strings.Contains(text, "objects removed") != (i == 1) {
			t.Errorf("process %d says %q", i, text)
		}
		if nodes := len(nodesNow(ctx, t)); nodes != []int{6, 0}[i] {
			t.Errorf("after process %d has ended there are %d nodes", i, nodes)
		}
	}
	nothingLeft(ctx, t)
}

// What one process has to do isn't divided.
func TestShardsRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		shards int
		want   string
	}{
		{"surge", 2, "found 2 shards for workers: want 1 to 1"},
		{"karpenter-drift", 2, "provider karpenter acts on the nodes of all groups: want one process"},
		{"spot-loss", 2, "a fault chooses among the nodes of all groups: want one process"},
	} {
		_, err := live.New(plane(t).Config(), scenario(t, c.name), live.Shards(c.shards))
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s with %d shards: %v, want %q", c.name, c.shards, err, c.want)
		}
	}
}
