//go:build controlplane

package app

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	search "github.com/nodesim/nodesim/internal/app/hunt"
	"github.com/nodesim/nodesim/internal/app/storetest"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/recorder/store"
)

// A real controller runs the Job of a manifest, and the test plays the kubelet of its pods. The first pod that reads a second tape is evicted
// while it does, and leaves no result; the controller makes another one for its index. The Job completes, and merged the results are
// what one process says: no tape is there twice, and none is missing.
func TestEvictedPodOfAJobRunsAgain(t *testing.T) {
	c := testcluster.New(t, testcluster.Options{Controllers: []string{"job-controller"}})
	if err := c.StartControllers(); err != nil {
		t.Fatal(err)
	}
	tapes := storeOfTapes(t)
	for verb, asked := range map[string][]string{"test": {"--policy", "no-stuck-roll"}, "hunt": {"--policy", "whole-tape", "--cases", "1"}} {
		t.Run(verb, func(t *testing.T) {
			j := &playedJob{t: t, k: c.Client(), verb: verb, folder: t.TempDir(), ran: map[string][]types.UID{}}
			j.open(tapes)
			// But for the last tape, which hangs in a drain.
			j.asked = slices.Concat([]string{"--store", "halfway://tapes", "--as-of", "2026-11-27T10:30:00Z"}, asked)
			j.play()
			j.compare()
		})
	}
}

// A playedJob is a Job whose kubelet is the test.
type playedJob struct {
	t            *testing.T
	k            kubernetes.Interface
	verb, folder string
	asked        []string
	read         func()                 // is called before a tape is read
	ran          map[string][]types.UID // pods by their index
	victim       types.UID              // the pod that was evicted
	log          string
}

// A halfwayBucket is a store's bucket that tells of each tape before it is read.
type halfwayBucket struct {
	store.Bucket
	read func()
}

func (b halfwayBucket) Read(ctx context.Context, key string) (io.ReadCloser, error) {
	if strings.HasSuffix(key, ".yaml.zst") {
		b.read()
	}
	return b.Bucket.Read(ctx, key)
}

// open makes the store known that the Job's pods read.
func (j *playedJob) open(tapes string) {
	j.read = func() {}
	store.Register("halfway", func(ctx context.Context, _ *url.URL) (store.Bucket, error) {
		s, err := store.Open(ctx, "file://"+filepath.ToSlash(tapes))
		if err != nil {
			return nil, err
		}
		return halfwayBucket{s.Bucket, func() { j.read() }}, nil
	})
}

// play applies the manifest, and runs each pod as it comes until the Job is complete.
func (j *playedJob) play() {
	t := j.t
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	files, job := manifest(t, executed(t, 0, slices.Concat([]string{j.verb, "manifest", "--shards", "3", "--image", "registry.example/nodesim:v1"}, j.asked)...))
	for name, text := range files.Data {
		if err := os.WriteFile(filepath.Join(j.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pods, err := j.k.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer pods.Stop()
	jobs, err := j.k.BatchV1().Jobs("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + job.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer jobs.Stop()
	strict := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	if _, err := j.k.CoreV1().ConfigMaps("default").Create(ctx, files, strict); err != nil {
		t.Fatal(err)
	}
	if _, err := j.k.BatchV1().Jobs("default").Create(ctx, job, strict); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case e := <-pods.ResultChan():
			p, is := e.Object.(*corev1.Pod)
			if !is {
				t.Fatalf("the watch of the pods says %s %v: %v", e.Type, e.Object, context.Cause(ctx))
			}
			index := p.Annotations[batchv1.JobCompletionIndexAnnotation]
			if e.Type != watch.Deleted && p.DeletionTimestamp == nil && !slices.Contains(j.ran[index], p.UID) {
				j.ran[index] = append(j.ran[index], p.UID)
				j.run(ctx, p)
			}
		case e := <-jobs.ResultChan():
			is, ok := e.Object.(*batchv1.Job)
			if !ok {
				t.Fatalf("the watch of the Job says %s %v: %v", e.Type, e.Object, context.Cause(ctx))
			}
			if j.complete(is) {
				return
			}
		}
	}
}

// run runs a pod's program to its end.
func (j *playedJob) run(ctx context.Context, p *corev1.Pod) {
	t := j.t
	updated(t, j.k, p, func(is *corev1.Pod) { is.Status.Phase = corev1.PodRunning })
	running, kill := context.WithCancel(ctx)
	defer kill()
	tapes := 0
	j.read = func() {
		if tapes++; tapes < 2 || j.victim != "" {
			return
		}
		j.victim = p.UID
		if err := j.k.CoreV1().Pods(p.Namespace).EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace}}); err != nil {
			t.Error(err)
		}
		kill()
	}
	out, code := ranUntil(running, t, container(t, p, map[string]string{storetest.MountPath + "/": j.folder + "/", search.MountPath + "/": j.folder + "/"})...)
	j.read = func() {}
	if evicted := p.UID == j.victim; evicted && (out != "" || code != exitEnded) || !evicted && code != 0 {
		t.Errorf("pod %s, evicted %t: exit status %d and the result %q", p.Name, evicted, code, out)
	}
	j.log += out
	updated(t, j.k, p, func(is *corev1.Pod) { exited(is, code) })
}

// complete reports whether the Job is, with all of its indexes.
func (j *playedJob) complete(is *batchv1.Job) bool {
	for _, c := range is.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			j.t.Fatalf("the Job has failed: %s: %s", c.Reason, c.Message)
		}
		if c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue {
			if is.Status.CompletedIndexes != "0-2" {
				j.t.Errorf("the Job is complete with the indexes %q, want 0-2", is.Status.CompletedIndexes)
			}
			return true
		}
	}
	return false
}

// compare holds the merged results against one of a process that does all.
func (j *playedJob) compare() {
	t := j.t
	for index, pods := range j.ran {
		want := 1
		if slices.Contains(pods, j.victim) {
			want = 2
		}
		if len(pods) != want {
			t.Errorf("index %s had the pods %v: want %d; %s was evicted", index, pods, want, j.victim)
		}
	}
	if results := strings.Count(j.log, `{"kind":`); len(j.ran) != 3 || j.victim == "" || results != 3 {
		t.Errorf("pods of %d indexes, of which %q was evicted, left %d results: want 3 of each, and one evicted", len(j.ran), j.victim, results)
	}
	all := filepath.Join(j.folder, "log")
	if err := os.WriteFile(all, []byte(j.log), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := executed(t, 0, slices.Concat([]string{j.verb, "-o", "json"}, j.asked)...)
	if merged := executed(t, 0, j.verb, "merge", "-o", "json", all); merged != whole {
		t.Errorf("merged:\n%s\nwant what one process says:\n%s", merged, whole)
	}
	var res struct {
		Tapes []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(whole), &res); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, tape := range res.Tapes {
		names[tape.Name] = true
	}
	if len(res.Tapes) != 11 || len(names) != 11 {
		t.Errorf("found %d tapes with %d names, want 11", len(res.Tapes), len(names))
	}
}
