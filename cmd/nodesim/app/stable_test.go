package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/app/clusters"
	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/recorder/store"
)

// The help of every command, flags and all, is pinned down in testdata/help: docs/stability.md says what may change in it.
func TestHelpStays(t *testing.T) {
	var pages []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())
		t.Run(strings.Join(path, "-"), func(t *testing.T) {
			help := executed(t, 0, append(path[1:], "--help")...)
			golden.Assert(t, "help/"+strings.Join(path, "-"), help)
		})
		pages = append(pages, "help/"+strings.Join(path, "-"))
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	if len(pages) < 25 {
		t.Errorf("found %d commands: want all of them", len(pages))
	}
}

// The members of each JSON answer, with their types, are pinned down in testdata/json. One that comes is entered there; one
// that goes or has another type breaks those that read it (docs/stability.md).
func TestJSONStays(t *testing.T) {
	const surge, force = "../../../examples/surge.yaml", "../../../examples/stuck-drain-force.yaml"
	policy := []string{"--policy", "no-stuck-roll", "-o", "json"}
	hunt := slices.Concat([]string{"hunt", "stuck-drain", "--cases", "9"}, policy)
	test := slices.Concat([]string{"test", "--store", "file://" + filepath.ToSlash(storeOfTapes(t))}, policy)
	keptCluster(t, "demo")
	for name, c := range map[string]struct {
		status int
		args   []string
	}{
		"calibrate":      {args: []string{"calibrate", surge, "-o", "json"}},
		"cluster-list":   {args: []string{"cluster", "list", "-o", "json"}},
		"cluster-status": {args: []string{"cluster", "status", "--name", "demo", "-o", "json"}},
		"ctl-status":     {args: []string{"ctl", "status", "--kubeconfig", watchedDemo(t), "-o", "json"}},
		"ctl-step":       {args: []string{"ctl", "step", "--until", "transition", "--kubeconfig", serveDemo(t), "-o", "json"}},
		"diff":           {args: []string{"diff", "../../../examples/stuck-drain.yaml", force, "-o", "json"}},
		"explain":        {args: []string{"explain", force, "-o", "json"}},
		"hunt":           {args: []string{"hunt", "stuck-drain", "--cases", "3", "-o", "json"}},
		"hunt-merge":     {args: []string{"hunt", "merge", resultOf(t, 1, slices.Concat(hunt, []string{"--shard", "0/2"})), "-o", "json"}, status: 1},
		"hunt-store":     {args: slices.Concat([]string{"hunt", "--store", storeWithALostTape(t), "--as-of", "2026-11-27T02:00:00Z", "--cases", "1"}, policy), status: 1},
		"inspect":        {args: []string{"inspect", force, "--check", "-o", "json"}},
		"plan":           {args: []string{"plan", "--simulate", "stuck-drain", "--runs", "3", "-o", "json"}, status: 1},
		"replay":         {args: []string{"replay", force, "--speed", "max", "-o", "json", "--verbose"}},
		"simulate-list":  {args: []string{"simulate", "--list", "-o", "json"}},
		"tapes-list":     {args: []string{"tapes", "list", "--store", storeOfOneTape(t), "-o", "json"}},
		"test-merge":     {args: []string{"test", "merge", resultOf(t, 1, slices.Concat(test, []string{"--shard", "0/2"})), "-o", "json"}, status: 1},
		"test-store":     {args: test, status: 1},
		"version":        {args: []string{"version", "-o", "json"}},
	} {
		t.Run(name, func(t *testing.T) {
			members := map[string]bool{}
			values := json.NewDecoder(strings.NewReader(executed(t, c.status, c.args...)))
			for count := 0; ; count++ {
				var value any
				if err := values.Decode(&value); errors.Is(err, io.EOF) {
					if count == 0 {
						t.Fatal("found no JSON")
					}
					break
				} else if err != nil {
					t.Fatal(err)
				}
				collect(members, ".", value)
			}
			golden.Assert(t, "json/"+name, strings.Join(slices.Sorted(maps.Keys(members)), "\n")+"\n")
		})
	}
}

// resultOf is a file with what the program prints.
func resultOf(t *testing.T, want int, args []string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "result.json")
	if err := os.WriteFile(file, []byte(executed(t, want, args...)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// keptCluster has the program find a cluster that runs: its record, and a lock that is held until the test has ended.
func keptCluster(t *testing.T, name string) {
	t.Helper()
	cache := t.TempDir()
	t.Setenv("NODESIM_CACHE", cache)
	folder := filepath.Join(cache, "clusters", name+".1")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(clusters.Record{
		Name: name, State: clusters.Running, Server: "https://127.0.0.1:6443", Kubeconfig: filepath.Join(folder, "kubeconfig"),
		Started: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC), Keeper: os.Getpid(), Speed: 1, AuditLog: filepath.Join(folder, "audit.log"),
		Folder: folder, Processes: map[string]int{"etcd": os.Getpid()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "cluster.json"), record, 0o600); err != nil {
		t.Fatal(err)
	}
	unlock, err := atomicfile.TryLock(filepath.Join(folder, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unlock(); err != nil {
			t.Error(err)
		}
	})
}

// watchedDemo serves the demo as serveDemo does, to a client that watches it, with a marker that a client has set.
func watchedDemo(t *testing.T) string {
	t.Helper()
	kubeconfig := serveDemo(t)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	// It is open when Watch returns, and nothing comes that would have to be read.
	w, err := client.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{LabelSelector: "app=none", FieldSelector: "metadata.name=none"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	executed(t, 0, "ctl", "mark", "here", "--kubeconfig", kubeconfig)
	return kubeconfig
}

// storeOfOneTape is the URL of a store with a tape whose description says all that one can.
func storeOfOneTape(t *testing.T) string {
	t.Helper()
	address := "file://" + filepath.ToSlash(t.TempDir())
	s, err := store.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	const text = "as good as any tape"
	sum, at := sha256.Sum256([]byte(text)), time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	if err := s.Put(t.Context(), store.Tape{
		Name: "workers-1", Cluster: "c1", ClusterName: "prod", Group: "workers", First: at, Began: at, Ended: at.Add(time.Minute), Part: 1,
		Trigger: trigger.Trigger{
			Kind: trigger.Deletion, Resource: "machines", Namespace: "capi", Name: "m", UID: "u", RV: "7", Reason: "Machine m is being deleted", Time: at,
		},
		Outcome: trigger.Complete, Missing: "node n was cordoned before the recording began", Events: 446, Bytes: int64(len(text)),
		SHA256: hex.EncodeToString(sum[:]), Program: "nodesim v0.1.0",
	}, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }); err != nil {
		t.Fatal(err)
	}
	return address
}

// storeWithALostTape is the URL of a store whose second tape is described, and isn't there.
func storeWithALostTape(t *testing.T) string {
	t.Helper()
	dir := storeOfTapes(t)
	lost, err := filepath.Glob(filepath.Join(dir, "c1", "2026", "11", "27", "roll-01-*.yaml.zst"))
	if err != nil || len(lost) != 1 {
		t.Fatalf("found %v, %v, want one file", lost, err)
	}
	if err := os.Remove(lost[0]); err != nil {
		t.Fatal(err)
	}
	return "file://" + filepath.ToSlash(dir)
}

// named are objects whose members have names of their own, such as those of groups.
var named = []string{".coverage.untried", ".coverage.untried.*", ".processes", ".[].processes"}

// collect enters the members of a value, such as ".nodes[].name string".
func collect(members map[string]bool, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		members[path+" object"] = true
		for key, of := range value {
			if slices.Contains(named, path) {
				key = "*"
			}
			collect(members, strings.TrimSuffix(path, ".")+"."+key, of)
		}
	case []any:
		members[path+" array"] = true
		for _, of := range value {
			collect(members, path+"[]", of)
		}
	case nil:
		members[path+" null"] = true
	case float64:
		members[path+" number"] = true
	default:
		members[fmt.Sprintf("%s %T", path, value)] = true
	}
}
