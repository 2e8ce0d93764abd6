//go:build controlplane

package snapshot_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/internal/localcluster/assets"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	made "github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// TestRealCluster reads a real control plane as a user that may list and nothing else: the file has what runs there, and the audit log
// proves that nothing but lists and the version was asked for.
func TestRealCluster(t *testing.T) {
	folder := t.TempDir()
	log := filepath.Join(folder, "audit.log")
	policy := put(t, folder, "policy.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n")
	c := testcluster.New(t, testcluster.Options{APIServer: map[string]string{"audit-log-path": log, "audit-policy-file": policy, "audit-log-mode": "blocking"}})
	if err := c.StartControllers(); err != nil {
		t.Fatal(err)
	}
	ctx, client := t.Context(), c.Client()
	group := testcluster.Group{Name: "workers", Zones: []string{"us-east-1a", "us-east-1b"}}
	if err := group.JoinAll(ctx, client, 1, 3, "ami-old"); err != nil {
		t.Fatal(err)
	}
	web := testcluster.Workload{Replicas: 5, MinAvailable: 4, Env: map[string]string{"PASSWORD": "hunter2"}, Annotations: map[string]string{"note": "hunter2"}}
	if err := web.Create(ctx, client, group); err != nil {
		t.Fatal(err)
	}
	if err := testcluster.Cordon(ctx, client, "ip-10-0-1-11"); err != nil {
		t.Fatal(err)
	}
	lists := []string{"list"}
	reader, err := c.User(ctx, "reader",
		testcluster.Rule("", []string{"nodes", "pods", "persistentvolumeclaims", "persistentvolumes", "replicationcontrollers"}, lists...),
		testcluster.Rule("apps", []string{"deployments", "replicasets", "statefulsets", "daemonsets"}, lists...),
		testcluster.Rule("policy", []string{"poddisruptionbudgets"}, lists...),
		testcluster.Rule("storage.k8s.io", []string{"csinodes"}, lists...))
	if err != nil {
		t.Fatal(err)
	}
	f, err := snapshot.Read(ctx, snapshot.Source{REST: reader, Name: "real", Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	there(t, c, f)
	if want := "can't list jobs.batch: forbidden: want list on jobs.batch, in all namespaces"; !contains(f.LeftOut, want) || len(f.LeftOut) != 2 || !strings.Contains(f.LeftOut[1], ": not asked for; ") {
		t.Errorf("found %q left out, want only %q, and what isn't asked for", f.LeftOut, want)
	}
	var text bytes.Buffer
	if err := made.Write(&text, f); err != nil || strings.Contains(text.String(), "hunter2") {
		t.Errorf("found a canary, or error %v, in\n%s", err, text.String())
	}
	asked(t, log)
	printed(t, c, f)
}

// printed holds what kubectl prints, and leaves in folders, against what the API server said.
func printed(t *testing.T, c *testcluster.Cluster, live *spec.File) {
	t.Helper()
	binary, err := assets.Find("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	config := filepath.Join(folder, "kubeconfig")
	if err := testcluster.WriteKubeconfig(config, c.Config()); err != nil {
		t.Fatal(err)
	}
	kubectl := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), binary, append([]string{"--kubeconfig", config}, args...)...).Output()
		if err != nil {
			t.Fatalf("kubectl %s: %v", strings.Join(args, " "), err)
		}
		return string(out)
	}
	const kinds = "nodes,pods,pdb,deploy,rs,sts,ds,job,pvc,pv"
	dump := filepath.Join(folder, "dump")
	kubectl("cluster-info", "dump", "--all-namespaces", "--output-directory", dump)
	for _, source := range []string{
		put(t, folder, "list.json", kubectl("get", kinds, "-A", "-o", "json")), put(t, folder, "list.yaml", kubectl("get", kinds, "-A", "-o", "yaml")), dump,
	} {
		f, err := snapshot.Read(t.Context(), snapshot.Source{File: source})
		if err != nil {
			t.Fatal(err)
		}
		if source == dump { // it has no budgets
			f.Budgets = live.Budgets
		}
		if differ := cmp.Diff(live.Workloads, f.Workloads, cmpopts.EquateEmpty()) + cmp.Diff(live.Budgets, f.Budgets, cmpopts.EquateEmpty()); differ != "" {
			t.Errorf("%s: found other workloads or budgets (-want +got):\n%s", filepath.Base(source), differ)
		}
		if len(f.Groups) != 1 || len(f.Groups[0].Members) != 3 || !f.Groups[0].Members[1].Cordoned {
			t.Errorf("%s: found the groups %+v: want three nodes of workers, the second one cordoned", filepath.Base(source), f.Groups)
		}
	}
}

// there holds the file against what the API server says.
func there(t *testing.T, c *testcluster.Cluster, f *spec.File) {
	t.Helper()
	pods, err := c.Client().CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w := f.Workload("web")
	if len(f.Workloads) != 1 || w == nil || w.Kind != spec.KindDeployment || w.Replicas != 5 || len(w.Pods) != len(pods.Items) {
		t.Fatalf("found workloads %+v: want the Deployment web with %d pods", f.Workloads, len(pods.Items))
	}
	on := map[string]string{}
	for _, p := range w.Pods {
		on[p.Name] = p.Node
	}
	for i := range pods.Items {
		if p := &pods.Items[i]; on[p.Name] != p.Spec.NodeName {
			t.Errorf("pod %s: found it on %q, want %s", p.Name, on[p.Name], p.Spec.NodeName)
		}
	}
	if own := w.PodSpec; own.Containers[0].Resources.Requests.Cpu().String() != "500m" || own.NodeSelector["eks.amazonaws.com/nodegroup"] != "workers" || own.Tolerations != nil {
		t.Errorf("found the pod spec %+v: want that of the Deployment, without what admission adds", own)
	}
	g := f.Groups[0]
	if f.Cluster.KubernetesVersion != "1.36" || len(f.Groups) != 1 || g.Name != "workers" || len(g.Members) != 3 || !g.Members[1].Cordoned || g.Members[0].Cordoned {
		t.Errorf("found the groups %+v: want three nodes of workers, the second one cordoned", f.Groups)
	}
	if cpu := f.Machine(g.InstanceType).Reported; cpu == nil || cpu.MilliCPU != 8000 {
		t.Errorf("found %+v allocatable, want 8 CPUs", cpu)
	}
	if b := f.Budgets; len(b) != 1 || b[0].Name != "web" || b[0].MinAvailable == nil || b[0].MinAvailable.Value != 4 {
		t.Errorf("found the budgets %+v, want web with minAvailable 4", b)
	}
	if taint := g.Members[1].Taints; len(taint) > 0 {
		t.Errorf("found the taints %+v of a cordoned node: want none, which %s follows from being cordoned", taint, corev1.TaintNodeUnschedulable)
	}
}

// asked holds the audit log's requests of the reader against what it may ask for.
func asked(t *testing.T, log string) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	verbs := map[string]int{}
	for line := range bytes.Lines(text) {
		var ev struct {
			Verb       string `json:"verb"`
			RequestURI string `json:"requestURI"`
			User       struct {
				Username string `json:"username"`
			} `json:"user"`
		}
		if err := json.Unmarshal(line, &ev); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(ev.User.Username, "reader-") {
			continue
		}
		if verbs[ev.Verb]++; ev.Verb != "list" && ev.RequestURI != "/version" {
			t.Errorf("found the request %s %s: want lists and the version alone", ev.Verb, ev.RequestURI)
		}
	}
	if want := len(made.Resources()); verbs["list"] != want || verbs["get"] != 1 || len(verbs) != 2 {
		t.Errorf("found the requests %v: want %d lists and one get of /version", verbs, want)
	}
}
