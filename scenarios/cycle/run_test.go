package cycle_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nodesim/nodesim/scenarios/cycle"
)

// refusing is an environment whose every call fails with the error of its method.
type refusing map[string]error

func (r refusing) LookupClusterID(context.Context, string) (cycle.ClusterID, error) {
	return "", r["LookupClusterID"]
}

func (r refusing) DescribeCluster(context.Context, cycle.ClusterID) (cycle.Cluster, error) {
	return cycle.Cluster{}, r["DescribeCluster"]
}

func (r refusing) StartInstances(context.Context, cycle.ClusterID, int) error {
	return r["StartInstances"]
}

func (r refusing) DrainInstances(context.Context, ...cycle.InstanceID) error {
	return r["DrainInstances"]
}

func (r refusing) TerminateInstances(context.Context, ...cycle.InstanceID) error {
	return r["TerminateInstances"]
}

func (r refusing) WaitInstances(context.Context, cycle.InstanceState, ...cycle.InstanceID) error {
	return r["WaitInstances"]
}

var (
	errDenied  = errors.New("denied")
	allRefused = refusing{
		"LookupClusterID": errDenied, "DescribeCluster": errDenied, "StartInstances": errDenied,
		"DrainInstances": errDenied, "TerminateInstances": errDenied, "WaitInstances": errDenied,
	}
)

func step(kind cycle.Kind, await cycle.InstanceState, ids ...cycle.InstanceID) cycle.Step {
	s := cycle.Step{Kind: kind, Cluster: "c-1", Count: len(ids), Await: await}
	for _, id := range ids {
		s.Targets = append(s.Targets, cycle.Target{ID: id, Reason: cycle.ReasonOutdated})
	}
	return s
}

func startStep(n int) cycle.Step {
	return cycle.Step{Kind: cycle.Start, Cluster: "c-1", Count: n, Reason: cycle.ReasonOutdated}
}

type taskFunc func(context.Context, cycle.Environment) error

func (f taskFunc) Run(ctx context.Context, env cycle.Environment) error { return f(ctx, env) }

// Whatever the order of the arguments, capacity is ordered and awaited before any is given up.
func TestRunOrdersTheStages(t *testing.T) {
	var mu sync.Mutex
	var got []string
	env := cycle.Observe(newMemory(group(of(9, cycle.Started, "config-0")...)), func(c cycle.Call) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, strings.TrimSpace(c.Method+" "+string(c.Await)))
	})
	err := cycle.Run(t.Context(), env,
		step(cycle.Wait, cycle.Terminated, "i-04"), step(cycle.Terminate, "", "i-03"), step(cycle.Drain, "", "i-02"),
		step(cycle.Wait, cycle.Drained, "i-01"), step(cycle.Wait, cycle.Started, "i-00"), startStep(2))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got[2:4]) // the calls within a stage are independent
	slices.Sort(got[4:])
	want := []string{
		"StartInstances", "WaitInstances started", "DrainInstances", "TerminateInstances", "WaitInstances drained",
		"WaitInstances terminated",
	}
	if !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}

func TestRunJoinsErrors(t *testing.T) {
	env := cycle.Observe(refusing{"DrainInstances": errDenied, "StartInstances": context.DeadlineExceeded}, func(cycle.Call) {})
	ran := false
	err := cycle.Run(t.Context(), env,
		step(cycle.Drain, "", "i-1", "i-2", "i-3", "i-4", "i-5"), startStep(2),
		taskFunc(func(context.Context, cycle.Environment) error { ran = true; return nil }))
	if !errors.Is(err, errDenied) || !errors.Is(err, context.DeadlineExceeded) || !ran {
		t.Errorf("got %v, the last task ran: %v; want both errors, and the last task run", err, ran)
	}
	const want = "drain i-1 (outdated), i-2 (outdated), i-3 (outdated) and 2 more: denied\n" +
		"start 2 (outdated): context deadline exceeded"
	if err.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", err, want)
	}
	if err := cycle.Run(t.Context(), env); err != nil {
		t.Errorf("no tasks: got %v, want nil", err)
	}
}

func TestRunCatchesPanics(t *testing.T) {
	err := cycle.Run(t.Context(), nil, startStep(1), taskFunc(func(context.Context, cycle.Environment) error {
		panic(errDenied)
	}))
	var caught *cycle.PanicError
	if !errors.As(err, &caught) || len(caught.Stack) == 0 || !errors.Is(err, errDenied) {
		t.Errorf("got %v, want both panics with their stacks", err)
	}
	if text := err.Error(); !strings.HasPrefix(text, "start 1 (outdated): panic: ") || !strings.Contains(text, "\npanic: denied") {
		t.Errorf("got %q, want the panic of the missing environment, then the task's own", text)
	}
}

func TestRunnerStopsOnError(t *testing.T) {
	var siblings, later bool
	runner := cycle.Runner{Parallel: 2, StopOnError: true}
	err := runner.Run(t.Context(), refusing{"DrainInstances": errDenied},
		step(cycle.Drain, "", "i-1"),
		taskFunc(func(ctx context.Context, _ cycle.Environment) error {
			<-ctx.Done()
			siblings = true
			return ctx.Err()
		}),
		step(cycle.Wait, cycle.Drained, "i-2"),
		taskFunc(func(context.Context, cycle.Environment) error { later = true; return nil }))
	if !errors.Is(err, errDenied) || !siblings || !later {
		t.Errorf("got %v, sibling cancelled: %v, own stage done: %v", err, siblings, later)
	}
	waited := false
	err = runner.Run(t.Context(), cycle.Observe(refusing{"StartInstances": errDenied}, func(c cycle.Call) {
		waited = waited || c.Method == "WaitInstances"
	}), startStep(1), step(cycle.Wait, cycle.Started, "i-1"))
	if !errors.Is(err, errDenied) || waited {
		t.Errorf("got %v, waited: %v; want the wait not begun", err, waited)
	}
}

func TestStepsObeyTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	called := false
	env := cycle.Observe(allRefused, func(cycle.Call) { called = true })
	if err := cycle.Run(ctx, env, startStep(1), step(cycle.Drain, "", "i-1")); !errors.Is(err, context.Canceled) || called {
		t.Errorf("got %v, environment called: %v; want canceled and no call", err, called)
	}
	if err := (cycle.Step{Kind: "reboot", Targets: make([]cycle.Target, 1)}).Run(t.Context(), env); err == nil || called {
		t.Errorf("unknown kind: got %v, environment called: %v; want an error and no call", err, called)
	}
}
