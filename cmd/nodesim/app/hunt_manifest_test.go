package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"

	search "github.com/nodesim/nodesim/internal/app/hunt"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/simcluster"
)

// executed runs the program's code, and returns what it prints.
func executed(t *testing.T, want int, args ...string) string {
	t.Helper()
	out, code := ran(t, args...)
	if code != want {
		t.Fatalf("nodesim %v: exit status %d, want %d", args, code, want)
	}
	return out
}

// ran runs the program's code, and returns what it prints and its exit status.
func ran(t *testing.T, args ...string) (string, int) {
	t.Helper()
	return ranUntil(t.Context(), t, args...)
}

// ranUntil is ran for a program that is asked to end when ctx does.
func ranUntil(ctx context.Context, t *testing.T, args ...string) (string, int) {
	t.Helper()
	root := newRoot()
	var out, errOut bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&errOut)
	code := run(ctx, root, args)
	if errOut.Len() > 0 {
		t.Logf("nodesim %v: %s", args, errOut.String())
	}
	return out.String(), code
}

// found is what a result has found.
func found(t *testing.T, line string) hunt.Found {
	t.Helper()
	var res hunt.Result
	if err := json.Unmarshal([]byte(line), &res); err != nil || res.Found == nil {
		t.Fatalf("found nothing in %s: %v", line, err)
	}
	return *res.Found
}

// The Job of a manifest has a pod for each shard, whose program, run with what that pod's container has, leaves a result; merged they are
// what one search finds: of a scenario, and of a cluster that was read.
func TestHuntManifest(t *testing.T) {
	cluster := filepath.Join(t.TempDir(), "prod.json")
	if err := os.WriteFile(cluster, []byte(twoNodes), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, asked := range map[string][]string{
		"scenario": {"surge", "--cases", "12", "--seed", "4", "--set", "nodes=3", "--policy", "whole-tape"},
		"roll":     {"surge", "--cases", "12", "--strategy", "plain", "--roll", "maxSurge=2", "--nodegroup", "workers"},
		"cluster":  {cluster, "--cases", "12", "--nodegroup", "workers", "--roll", "evictionTimeout=5m"},
	} {
		t.Run(name, func(t *testing.T) { huntManifest(t, asked) })
	}
}

// twoNodes is what kubectl get nodes -o json prints, in short.
const twoNodes = `{"apiVersion": "v1", "kind": "List", "items": [
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"eks.amazonaws.com/nodegroup": "workers"}}, "status": {"nodeInfo": {"kubeletVersion": "v1.34.2"}}},
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2", "labels": {"eks.amazonaws.com/nodegroup": "spare"}}, "status": {"nodeInfo": {"kubeletVersion": "v1.34.2"}}}
]}`

func huntManifest(t *testing.T, asked []string) {
	t.Helper()
	objects, job := manifest(t, executed(t, 0, append([]string{"hunt", "manifest", "--shards", "3", "--image", "registry.example/nodesim:v1"}, asked...)...))
	var pods []corev1.Pod
	synctest.Test(t, func(t *testing.T) { pods = podsOf(t, objects, job) })
	if len(pods) != 3 {
		t.Fatalf("the Job has %d pods, want 3", len(pods))
	}
	folder := t.TempDir()
	for name, text := range objects.Data {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log strings.Builder
	for i := range pods {
		log.WriteString("hunt: a line of progress\n" + executed(t, 0, container(t, &pods[i], map[string]string{search.MountPath: folder})...))
	}
	all := filepath.Join(folder, "log")
	if err := os.WriteFile(all, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	// The files of the ConfigMap are the input: a shipped scenario is the same text.
	whole := executed(t, 0, append([]string{"hunt", "-o", "json"}, asked...)...)
	if merged := executed(t, 0, "hunt", "merge", "-o", "json", all); merged != whole {
		t.Errorf("merged:\n%s\nwant what one search says:\n%s", merged, whole)
	}
	var res hunt.Result
	if err := json.Unmarshal([]byte(whole), &res); err != nil || res.Tried != 12 {
		t.Errorf("%d cases were tried: %v", res.Tried, err)
	}
}

// The pods of the Job of a store search through a part of its tapes each, those of the manifest's flags and time; merged they say what one
// search does. A shard that is evicted leaves no result. The store is a bucket of a scheme that the test registers.
func TestHuntManifestOfAStore(t *testing.T) {
	tapes, folder := storeOfTapes(t), t.TempDir()
	store.Register("hunted", func(ctx context.Context, _ *url.URL) (store.Bucket, error) {
		s, err := store.Open(ctx, "file://"+filepath.ToSlash(tapes))
		if err != nil {
			return nil, err
		}
		return s.Bucket, nil
	})
	asked := []string{"--store", "hunted://tapes", "--as-of", "2026-11-27T02:00:00Z", "--cases", "1", "--policy", "no-stuck-roll"}
	objects, job := manifest(t, executed(t, 0, slices.Concat([]string{"hunt", "manifest", "--shards", "3", "--image", "registry.example/nodesim:v1", "--secret", "bucket"}, asked)...))
	var pods []corev1.Pod
	synctest.Test(t, func(t *testing.T) { pods = podsOf(t, objects, job) })
	if len(pods) != 3 || *job.Spec.BackoffLimitPerIndex == 0 {
		t.Fatalf("the Job has %d pods and tries an index %d times more, want 3 and some", len(pods), *job.Spec.BackoffLimitPerIndex)
	}
	for name, text := range objects.Data {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, failed := "", 0
	for i := range pods {
		out, code := ran(t, container(t, &pods[i], map[string]string{search.MountPath + "/": folder + "/"})...)
		log += "hunt: a line of progress\n" + out
		failed += code
	}
	all := filepath.Join(folder, "log")
	if err := os.WriteFile(all, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := executed(t, 1, slices.Concat([]string{"hunt", "-o", "json"}, asked)...)
	if merged := executed(t, 1, "hunt", "merge", "-o", "json", all); merged != whole || failed == 0 {
		t.Errorf("%d shards failed, and merged they say:\n%s\nwant some, and what one search says:\n%s", failed, merged, whole)
	}
	var res search.StoreResult
	if err := json.Unmarshal([]byte(whole), &res); err != nil || res.Searched != 2 || res.Failed != 2 || strings.Count(log, search.StoreResultKind) != 3 {
		t.Errorf("%d of %d tapes failed in %d logs, %v: want 2 of 2, and 3", res.Failed, res.Searched, strings.Count(log, search.StoreResultKind), err)
	}
	evicted, cancel := context.WithCancel(t.Context())
	cancel()
	if out, code := ranUntil(evicted, t, slices.Concat([]string{"hunt", "--shard", "0/1", "-o", "json"}, asked)...); out != "" || code != exitEnded {
		t.Errorf("found %q and exit status %d, want no result and %d", out, code, exitEnded)
	}
}

// A shard whose pod is evicted has no result, so that its index doesn't count as done; the Job begins it again, since it gives up
// an index for other exit statuses only. A search that is no shard says what it came to, and that it isn't all.
func TestEvictedShardOfAHunt(t *testing.T) {
	evicted, cancel := context.WithCancel(t.Context())
	cancel()
	out, code := ranUntil(evicted, t, "hunt", "surge", "--cases", "12", "--shard", "0/3", "-o", "json")
	if out != "" || code != exitEnded {
		t.Errorf("found %q and exit status %d, want no result and %d", out, code, exitEnded)
	}
	if out, code = ranUntil(evicted, t, "hunt", "surge", "--cases", "12", "-o", "json"); out == "" || code != exitFailed {
		t.Errorf("found %q and exit status %d, want what was tried and %d", out, code, exitFailed)
	}
	_, job := manifest(t, executed(t, 0, "hunt", "manifest", "surge", "--cases", "12", "--shards", "3", "--image", "registry.example/nodesim:v1"))
	for _, rule := range job.Spec.PodFailurePolicy.Rules {
		if codes := rule.OnExitCodes; codes != nil && slices.Contains(codes.Values, exitEnded) {
			t.Errorf("the Job gives up an index for exit status %d: want it to begin again", exitEnded)
		}
	}
}

// manifest reads the objects as strictly as kubectl apply --validate=strict does.
func manifest(t *testing.T, text string) (*corev1.ConfigMap, *batchv1.Job) {
	t.Helper()
	docs := yaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(text)))
	var files corev1.ConfigMap
	var job batchv1.Job
	for _, into := range []any{&files, &job} {
		doc := make([]byte, len(text)+1)
		n, err := docs.Read(doc)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := yaml.ToJSON(doc[:n])
		if err != nil {
			t.Fatal(err)
		}
		strict := json.NewDecoder(bytes.NewReader(raw))
		strict.DisallowUnknownFields()
		if err := strict.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := docs.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatalf("%d bytes after the Job: %v", n, err)
	}
	return &files, &job
}

// podsOf are those that the Job's controller makes in a simulated cluster.
func podsOf(t *testing.T, files *corev1.ConfigMap, job *batchv1.Job) []corev1.Pod {
	t.Helper()
	c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
	c.Start()
	k, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.CoreV1().ConfigMaps("default").Create(t.Context(), files, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.BatchV1().Jobs("default").Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var pods *corev1.PodList
	c.Eventually(time.Minute, "three pods that run, or have run", func() bool {
		if pods, err = k.CoreV1().Pods("default").List(context.Background(), metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job.Name}); err != nil {
			t.Fatal(err)
		}
		return len(pods.Items) == 3 && !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodPending })
	})
	return pods.Items
}

// container are the arguments of a pod's container as its kubelet makes them, with folders in the places of its volumes.
func container(t *testing.T, p *corev1.Pod, folders map[string]string) (args []string) {
	t.Helper()
	c := p.Spec.Containers[0]
	env := map[string]string{}
	for _, e := range c.Env {
		if e.Value != "" {
			continue
		}
		if e.ValueFrom == nil || e.ValueFrom.FieldRef == nil {
			t.Fatalf("env %s isn't of a field", e.Name)
		}
		const label, annotation = "metadata.labels['batch.kubernetes.io/job-completion-index']", "metadata.annotations['batch.kubernetes.io/job-completion-index']"
		switch e.ValueFrom.FieldRef.FieldPath {
		case label:
			env[e.Name] = p.Labels[batchv1.JobCompletionIndexAnnotation]
		case annotation:
			env[e.Name] = p.Annotations[batchv1.JobCompletionIndexAnnotation]
		}
	}
	if s := c.SecurityContext; !*s.ReadOnlyRootFilesystem || !*p.Spec.SecurityContext.RunAsNonRoot || p.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("the pod's container may do more than it has to: %+v", s)
	}
	for _, arg := range c.Args {
		arg = strings.ReplaceAll(arg, "$(JOB_COMPLETION_INDEX)", env["JOB_COMPLETION_INDEX"])
		for at, folder := range folders {
			arg = strings.Replace(arg, at, folder, 1)
		}
		args = append(args, arg)
	}
	return args
}
