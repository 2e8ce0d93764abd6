package cycle_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/nodesim/nodesim/scenarios/cycle"
)

// calls are all methods of an environment, by name.
func calls(ctx context.Context, env cycle.Environment) map[string]func() error {
	return map[string]func() error{
		"LookupClusterID":    func() error { _, err := env.LookupClusterID(ctx, "web"); return err },
		"DescribeCluster":    func() error { _, err := env.DescribeCluster(ctx, "c-1"); return err },
		"StartInstances":     func() error { return env.StartInstances(ctx, "c-1", 2) },
		"DrainInstances":     func() error { return env.DrainInstances(ctx, "i-00") },
		"TerminateInstances": func() error { return env.TerminateInstances(ctx, "i-00") },
		"WaitInstances":      func() error { return env.WaitInstances(ctx, cycle.Started, "i-00") },
	}
}

func TestObservePassesEverythingOn(t *testing.T) {
	var seen []cycle.Call
	env := cycle.Observe(allRefused, func(c cycle.Call) { seen = append(seen, c) })
	for method, call := range calls(t.Context(), env) {
		seen = nil
		if err := call(); !errors.Is(err, errDenied) {
			t.Errorf("%s returns %v, want the error of the environment below", method, err)
		}
		if len(seen) != 1 || seen[0].Method != method || !errors.Is(seen[0].Err, errDenied) {
			t.Errorf("%s was seen as %+v", method, seen)
		}
	}
	env = cycle.Observe(newMemory(group(of(3, cycle.Started, "config-0")...)), func(c cycle.Call) { seen = append(seen, c) })
	for method, call := range calls(t.Context(), env) {
		if err := call(); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	if id, err := env.LookupClusterID(t.Context(), "web"); id != "c-1" || err != nil {
		t.Errorf("lookup gives %q, %v", id, err)
	}
}

func TestDryRunLooksAndDoesNotTouch(t *testing.T) {
	below := newMemory(group(of(3, cycle.Started, "config-0")...))
	before, err := below.DescribeCluster(t.Context(), "c-1")
	if err != nil {
		t.Fatal(err)
	}
	env := cycle.DryRun(below)
	for method, call := range calls(t.Context(), env) {
		if err := call(); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	after, err := env.DescribeCluster(t.Context(), "c-1")
	if err != nil || !slices.Equal(after.Instances, before.Instances) {
		t.Errorf("after a dry run: %v, %v, want %v", after.Instances, err, before.Instances)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for method, call := range calls(ctx, cycle.DryRun(allRefused)) {
		want := context.Canceled
		if method == "LookupClusterID" || method == "DescribeCluster" {
			want = errDenied
		}
		if err := call(); !errors.Is(err, want) {
			t.Errorf("%s returns %v, want %v", method, err, want)
		}
	}
}
