package hunttest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
)

const twoNodes = `
apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: two, title: two nodes}
cluster: {provider: eks}
groups: [{name: workers, nodes: 2}]
workloads: [{name: web, namespace: shop, replicas: 2}]
`

func config(t *testing.T) Config {
	t.Helper()
	d, err := scenarios.Parse("two", []byte(twoNodes))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Config{File: f, Checks: 20, Tries: 40}
}

// A function fails by each way that a test has, and by no other; its cleanups run then too, the last one first, after its context.
func TestWaysToFail(t *testing.T) {
	for name, c := range map[string]struct {
		body Body
		want string
	}{
		"nothing": {func(TB, *simtest.Cluster) {}, ""},
		"errorf":  {func(t TB, _ *simtest.Cluster) { t.Errorf("%d nodes", 3); t.Error("later") }, "3 nodes"},
		"fatal":   {func(t TB, _ *simtest.Cluster) { t.Fatal("no", "nodes") }, "no nodes"},
		"fatalf":  {func(t TB, _ *simtest.Cluster) { t.Fatalf("a\nb") }, "a\nb"},
		"panic":   {func(TB, *simtest.Cluster) { panic("lost") }, "panic: lost"},
		"fail":    {func(t TB, _ *simtest.Cluster) { t.Fail() }, "it has failed without a word"},
		"failnow": {func(t TB, _ *simtest.Cluster) { t.FailNow() }, "it has failed without a word"},
		"failed":  {func(t TB, _ *simtest.Cluster) { t.Fail(); t.Errorf("failed: %v", t.Failed()) }, "failed: true"},
		"cleanup": {func(t TB, _ *simtest.Cluster) { t.Cleanup(func() { t.Fatal("in cleanup") }) }, "in cleanup"},
	} {
		t.Run(name, func(t *testing.T) {
			var order []string
			got := try(t, &config(t).File.File, func(t TB, cluster *simtest.Cluster) {
				t.Cleanup(func() { order = append(order, "first", cause(t)) })
				t.Cleanup(func() { order = append(order, "second") })
				c.body(t, cluster)
			}, false)
			got, stack, _ := strings.Cut(got, "\ngoroutine ")
			if strings.Contains(stack, "check_test.go:") != (name == "panic") {
				t.Errorf("found the stack %q", stack)
			}
			if got != c.want || !slices.Equal(order, []string{"second", "first", "context canceled"}) {
				t.Errorf("got %q, want %q; cleanups %q", got, c.want, order)
			}
		})
	}
}

func cause(t TB) string {
	if err := t.Context().Err(); err != nil {
		return err.Error()
	}
	return "context lives"
}

// What was found is written, tells how to repeat it, and is tried first the next time.
func TestFoundFilesAreTriedFirst(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "hunt")
	clusters := 0
	body := func(t TB, c *simtest.Cluster) {
		clusters++
		c.Start()
		n := len(c.Nodes())
		if err := c.RunUntil(t.Context(), 10*time.Minute, "a node to go", func() bool { return len(c.Nodes()) < n }); err == nil {
			t.Error("a node is gone\nand does not come back")
		}
	}
	c := config(t)
	c.Faults = []string{"delete"}
	text, _ := check(t, folder, c, body)
	for _, want := range []string{
		" of seed 1 fails: a node is gone\n", "made small in ", " of seed 1 fails: ", "kind: Scenario", "delete: ",
		"repeat it: go test -run '^TestFoundFilesAreTriedFirst$', which tries " + folder,
		"repeat the search: remove that file, and go test -run '^TestFoundFilesAreTriedFirst$' -hunt.seed=1 -hunt.checks=",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("found %s: want %q in it", text, want)
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	clusters = 0
	if text, _ := check(t, folder, c, body); text != filepath.Join(folder, files[0].Name())+" fails again: a node is gone\nand does not come back" || clusters != 1 {
		t.Errorf("%d clusters: %s", clusters, text)
	}
}

// A search that finds nothing says how much it has tried, as nodesim hunt does: in what states nodes were when faults began.
func TestWhatWasTried(t *testing.T) {
	c := config(t)
	c.Faults = []string{"delete"}
	fails, tried := check(t, t.TempDir(), c, func(t TB, c *simtest.Cluster) {
		c.Start()
		if err := c.RunFor(t.Context(), 10*time.Minute); err != nil {
			t.Fatal(err)
		}
	})
	const want = "nothing found in 20 cases of two, seed 1; coverage: cases in which a node was in a state when a fault began; "
	// Two rows, no fault and delete, of five states: nodes were online in each, and some went.
	rest, is := strings.CutPrefix(tried, want)
	visited := 0
	if _, err := fmt.Sscanf(rest, "%d of 10 combinations", &visited); fails != "" || !is || err != nil || visited < 3 {
		t.Errorf("found %q, failure %q: want %q, and 3 of 10 combinations or more", tried, fails, want)
	}
}

// What a case logs is shown where a file is tried again, and dropped in a search.
func TestWhatACaseLogs(t *testing.T) {
	for loud, want := range map[bool][]string{false: nil, true: {"two nodes\n", "3 nodes"}} {
		to := &shown{TB: t}
		one := &oneCase{TB: to, loud: loud}
		one.Log("two", "nodes")
		one.Logf("%d nodes", 3)
		if !slices.Equal(to.logs, want) {
			t.Errorf("loud %t: found %q, want %q", loud, to.logs, want)
		}
	}
}

// shown keeps what is logged.
type shown struct {
	testing.TB
	logs []string
}

func (s *shown) Log(args ...any) { s.logs = append(s.logs, fmt.Sprintln(args...)) }

func (s *shown) Logf(format string, args ...any) {
	s.logs = append(s.logs, fmt.Sprintf(format, args...))
}

// A fault that no case can have, such as one that is misspelled, is an error that names those that cases can.
func TestFaultsThatDoNotApply(t *testing.T) {
	c := config(t)
	c.Faults = []string{"delete", "vanish"}
	if _, err := c.file(); err != nil {
		t.Error(err)
	}
	for _, action := range []string{"vanishes", "mark", "spotInterruption"} {
		c.Faults = []string{"delete", action}
		_, err := c.file()
		want := fmt.Sprintf("found the fault %q in Config.Faults: want some of those that apply to the scenario two: vanish, ", action)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("found the error %v, want %s", err, want)
		}
	}
}
