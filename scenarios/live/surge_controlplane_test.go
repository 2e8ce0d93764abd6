//go:build controlplane

package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
)

// small is a surge of three nodes.
var small = []string{"nodes=3", "pods=6", "minAvailable=4"}

// A roll by the provider, and one that package cycle plans: nodes join, old ones
// are drained by evictions and go, and nothing is left behind.
func TestSurge(t *testing.T) {
	for _, strategy := range []string{"eks-default", "plain"} {
		t.Run(strategy, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
			defer cancel()
			before := audited(t)
			ignore := goleak.IgnoreCurrent()
			var left time.Time
			report, err := newRunner(t, scenario(t, "surge", append(small, "strategy="+strategy)...), live.OnProgress(func(p live.Progress) {
				if p.Phase == live.Leaving {
					left = time.Now()
				}
			})).Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s", report)
			if !report.Ended || !slices.Equal(report.Outcomes, []string{""}) {
				t.Errorf("ended %t, outcomes %q: want one that is complete", report.Ended, report.Outcomes)
			}
			if len(report.Left) > 0 || report.Refused > 0 {
				t.Errorf("left %v, refused %d: want neither", report.Left, report.Refused)
			}
			endCheck(t)
			goleak.VerifyNone(t, ignore)
			evicted(t, audited(t)[len(before):], left, report)
			nothingLeft(ctx, t)
		})
	}
}

// Groups are rolled one by one, those among them that a large one is split into; a
// drain that fails is the roll's of its own group.
func TestSeveralGroups(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	doc, err := scenarios.Parse("groups.yaml", []byte(`
apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: groups, title: groups are rolled one by one}
timeLimit: 20h
cluster: {provider: eks}
groups:
- {name: held, nodes: 1, instanceType: m5.large}
- {name: fleet, nodes: 2, nodesPerGroup: 1, instanceType: m5.large}
workloads:
- {name: pinned, namespace: shop, replicas: 1, requests: {cpu: 100m, memory: 64Mi}, group: held}
budgets:
- {workload: pinned, minAvailable: 1}
roll: {strategy: plain, evictionTimeout: 3m, joinTimeout: 0s, force: false}
`))
	if err != nil {
		t.Fatal(err)
	}
	file, err := doc.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := newRunner(t, file).Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := report.Outcomes
	if len(got) != 3 || !strings.HasPrefix(got[0], "PodEvictionFailure: ") || got[1] != "" || got[2] != "" {
		t.Errorf("outcomes %q: want one that fails, since its pod may not go, and two that are complete", got)
	}
	nothingLeft(ctx, t)
}

// An entry is a write in the API server's audit log.
type entry struct {
	Verb, RequestURI string
	User             struct{ Username string }
	UserAgent        string
	ObjectRef        struct{ Resource, Subresource, Namespace, Name string }
	ResponseStatus   struct{ Code int }
	StageTimestamp   time.Time
}

// audited are the writes that the API server has noted so far.
func audited(t *testing.T) (all []entry) {
	t.Helper()
	text, err := os.ReadFile(plane(t).AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var e entry
		if json.Unmarshal(line, &e) == nil { // the last line may be under way
			all = append(all, e)
		}
	}
	return all
}

// evicted holds the audit log against the promise that every drain evicts: up
// to the end of the scenario our program has deleted no pod but through the
// eviction subresource, or, as a kubelet does, when it had been evicted and ended.
func evicted(t *testing.T, log []entry, left time.Time, report live.Report) {
	t.Helper()
	granted := 0
	gone := map[string]bool{}
	for _, e := range log {
		if e.StageTimestamp.After(left) || !strings.Contains(e.UserAgent, "nodesim-live") || e.ObjectRef.Resource != "pods" ||
			e.ObjectRef.Namespace != "shop" { // a DaemonSet's pods go with their node, and no drain takes them
			continue
		}
		name := e.ObjectRef.Namespace + "/" + e.ObjectRef.Name
		switch {
		case e.Verb == "create" && e.ObjectRef.Subresource == "eviction" && e.ResponseStatus.Code < 300:
			granted++
			gone[name] = true
		case e.Verb == "delete" && !gone[name]:
			t.Errorf("%s: deleted without an eviction", name)
		}
	}
	if granted != report.Evictions || granted == 0 {
		t.Errorf("the audit log has %d granted evictions, the report %d: want as many, and some", granted, report.Evictions)
	}
}

// nothingLeft lists what a live run may have left.
func nothingLeft(ctx context.Context, t *testing.T) {
	t.Helper()
	c, ours := client(t), metav1.ListOptions{LabelSelector: live.Label}
	nodes, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	spaces, err := c.CoreV1().Namespaces().List(ctx, ours)
	if err != nil {
		t.Fatal(err)
	}
	records, err := c.CoordinationV1().Leases(live.RecordNamespace).List(ctx, ours)
	if err != nil {
		t.Fatal(err)
	}
	services, err := c.CoreV1().Services("kube-system").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sets, err := c.AppsV1().DaemonSets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods, err := c.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	leases, err := c.CoordinationV1().Leases("kube-node-lease").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(services.Items) > 0 {
		t.Errorf("left: service %s", services.Items[0].Name)
	}
	if n := len(nodes.Items) + len(spaces.Items) + len(records.Items) + len(sets.Items) + len(pods.Items) + len(leases.Items); n > 0 {
		t.Errorf("left: %d nodes, %d namespaces, %d records, %d DaemonSets, %d pods, %d leases: want nothing",
			len(nodes.Items), len(spaces.Items), len(records.Items), len(sets.Items), len(pods.Items), len(leases.Items))
	}
}
