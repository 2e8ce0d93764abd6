//go:build controlplane

package plan_test

import (
	"strings"
	"testing"
	"time"

	app "github.com/nodesim/nodesim/internal/app/plan"
	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// A real cluster is read, and the plan tells which of its budgets will hold up the drain of its nodes for ever, and that the remedy
// helps.
func TestRealCluster(t *testing.T) {
	c := testcluster.New(t, testcluster.Options{})
	if err := c.StartControllers(); err != nil {
		t.Fatal(err)
	}
	ctx, client := t.Context(), c.Client()
	group := testcluster.Group{Name: "workers", Zones: []string{"us-east-1a", "us-east-1b"}}
	if err := group.JoinAll(ctx, client, 1, 3, "ami-old"); err != nil {
		t.Fatal(err)
	}
	web := testcluster.Workload{Replicas: 5, MinAvailable: 5}
	if err := web.Create(ctx, client, group); err != nil {
		t.Fatal(err)
	}
	f, err := app.Cluster(ctx, snapshot.Source{REST: c.Config(), Name: "real", Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if f.TimeLimit != 13*time.Hour+30*time.Minute {
		t.Errorf("three nodes have %s", f.TimeLimit)
	}
	o := plan.Options{Groups: []string{"workers"}, Runs: 5, Parallel: 2}
	stuck, err := plan.Of(ctx, f, o)
	if err != nil {
		t.Fatal(err)
	}
	if stuck.Ends != 0 || stuck.Nodes != 3 || stuck.Pods != 5 || len(stuck.Blocks) != 1 || stuck.Blocks[0].Stops != 5 || !strings.HasSuffix(stuck.Blocks[0].Object, "/web") {
		t.Errorf("got %d of %d runs that end, blocked by %+v", stuck.Ends, stuck.Runs, stuck.Blocks)
	}
	for i := range f.Budgets {
		o.WhatIf = append(o.WhatIf, spec.Change{Object: "budget/" + f.Budgets[i].Namespace + "/" + f.Budgets[i].Name, Key: "minAvailable", Value: "4"})
	}
	mended, err := plan.Of(ctx, f, o)
	if err != nil {
		t.Fatal(err)
	}
	if mended.Ends != 5 || len(mended.WontRun) != 0 {
		t.Errorf("got %d of %d runs that end, and %+v don't run", mended.Ends, mended.Runs, mended.WontRun)
	}
	for _, n := range stuck.Order {
		if !strings.HasPrefix(n.Name, "ip-10-0-") {
			t.Errorf("found the node %q, which the cluster hasn't", n.Name)
		}
	}
}
