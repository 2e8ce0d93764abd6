//go:build controlplane

package writescripts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/localcluster"
	"github.com/nodesim/nodesim/internal/testing/simcheck"
	"github.com/nodesim/nodesim/internal/testing/writescripts"
	"github.com/nodesim/nodesim/scenarios/live"
)

// slots is how many scripts run at once on the control plane, each with nodes and a namespace of its own.
const slots = 16

// What scripts of writes make of a simulated cluster is what they make of a real control plane: every field of every object, whenever
// the script waits for rest, but for what known.tsv lists for the control plane's minor of Kubernetes.
func TestScriptsAgreeWithTheControlPlane(t *testing.T) {
	scripts, all := chosen(t)
	table, err := writescripts.ReadKnown()
	if err != nil {
		t.Fatal(err)
	}
	want := make([][]writescripts.Rest, len(scripts))
	for i, s := range scripts {
		t.Run("simulated/"+s.Name, func(t *testing.T) { want[i], _ = simulated(t, s) })
	}
	config := realCluster(t)
	minor, err := writescripts.ServerMinor(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	known := table.Of(minor)
	next := make(chan int)
	var work sync.WaitGroup
	var mu sync.Mutex
	differences := make([][]writescripts.Difference, len(scripts))
	outcomes := make([]string, len(scripts)) // the differences, a line each
	fields := 0
	for slot := range slots {
		work.Go(func() {
			for i := range next {
				differ, err := runScript(t.Context(), config, scripts[i], i, slot, want[i], known)
				mu.Lock()
				for _, r := range want[i] {
					fields += len(r.Fields)
				}
				mu.Unlock()
				var lines []string
				for _, d := range differ {
					lines = append(lines, d.String())
				}
				if err != nil {
					lines = append(lines, err.Error())
				}
				differences[i], outcomes[i] = differ, strings.Join(lines, "\n")
			}
		})
	}
	began := time.Now()
	for i := range scripts {
		if want[i] != nil {
			next <- i
		}
	}
	close(next)
	work.Wait()
	same := 0
	for i, s := range scripts {
		t.Run("same/"+s.Name, func(t *testing.T) {
			if outcomes[i] != "" || want[i] == nil {
				t.Errorf("script, after which step, object, field, real value, simulated value:\n%s", outcomes[i])
				return
			}
			same++
		})
	}
	if rows := writescripts.Rows(minor, slices.Concat(differences...)); len(rows) > 0 {
		t.Logf("what differs, as rows for known.tsv, each with its reason yet to be written:\n%s", strings.Join(rows, "\n"))
	}
	line := fmt.Sprintf("scripts of writes: %d of %d agree with the control plane, in %d fields, in %s", same, len(scripts), fields, time.Since(began).Round(time.Second))
	t.Log(line)
	if err := simcheck.Tell("writescripts", line); err != nil {
		t.Error(err)
	}
	if all {
		for _, row := range known.Unused() {
			t.Errorf("%s: found no script that needs it with Kubernetes %s: take this minor out of the row, or the row out", row, minor)
		}
	}
}

// runScript runs a script on the control plane and returns what differs.
func runScript(ctx context.Context, config *rest.Config, s writescripts.Script, number, slot int, want []writescripts.Rest, known *writescripts.Known) (differ []writescripts.Difference, err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	on, err := writescripts.On(ctx, config, fmt.Sprintf("script-%03d", number), fmt.Sprintf("slot-%02d", slot))
	if err != nil {
		return nil, err
	}
	on.Look, on.Quiet = time.Second, 15*time.Second // what a Job's pods that fail wait for at most here
	is := func(place int, r writescripts.Rest) []writescripts.Difference {
		if place >= len(want) {
			return nil
		}
		return writescripts.Compare(s.Name, want[place].After, r, want[place], known)
	}
	got, err := s.Run(ctx, on, func(place int, r writescripts.Rest) bool { return len(is(place, r)) == 0 })
	for place, r := range got {
		for _, d := range is(place, r) {
			like := func(was writescripts.Difference) bool {
				return was.Object == d.Object && was.Path == d.Path && was.A == d.A && was.B == d.B
			}
			if !slices.ContainsFunc(differ, like) { // once is enough
				differ = append(differ, d)
			}
		}
	}
	if err != nil {
		return differ, err
	}
	return differ, on.Leave(ctx, s)
}

// realCluster is a control plane with the same nodes, as virtual ones.
func realCluster(t *testing.T) *rest.Config {
	t.Helper()
	plane, err := localcluster.Start(context.Background(), localcluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	began := make(chan struct{})
	var mu sync.Mutex
	var warnings []string
	run, err := live.New(plane.Config(), cluster(t, slots), live.Speed(20), live.ClusterSpeed(1),
		live.OnWarning(func(err error) {
			mu.Lock()
			defer mu.Unlock()
			warnings = append(warnings, err.Error())
		}),
		live.BeforeBegin(func(context.Context) error { close(began); return nil }))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := run.Run(ctx)
		ended <- err
	}()
	t.Cleanup(func() {
		end()
		if err := <-ended; t.Failed() {
			t.Logf("the live run ended with %v; %d warnings, the last ones: %q", err, len(warnings), warnings[max(0, len(warnings)-5):])
		}
	})
	select {
	case <-began:
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	config := plane.Config()
	config.QPS = -1
	return config
}
