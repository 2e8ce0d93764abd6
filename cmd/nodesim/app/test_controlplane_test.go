//go:build controlplane

package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/app/storetest"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

// A real API server takes the manifest, and a real controller gives each of the Job's pods its index. The test plays their kubelet: it runs
// the program with what each container has, and says how it ended. The node of one pod is lost before the pod has written anything, that
// of another one after it: both run again. Until the first one has, its shard is named; then the shards are what one test says, each
// counted once.
func TestTestManifestOnAControlPlane(t *testing.T) {
	c := testcluster.New(t, testcluster.Options{Controllers: []string{"job-controller"}})
	if err := c.StartControllers(); err != nil {
		t.Fatal(err)
	}
	files, job := manifest(t, executed(t, 0, slices.Concat(testManifest, []string{"--store", "file:///srv/tapes", "--claim", "tapes"})...))
	k, ctx := c.Client(), t.Context()
	strict := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	if _, err := k.CoreV1().ConfigMaps("default").Create(ctx, files, strict); err != nil {
		t.Fatal(err)
	}
	job, err := k.BatchV1().Jobs("default").Create(ctx, job, strict)
	if err != nil {
		t.Fatal(err)
	}
	// waiting are the pods that haven't ended, by their indexes.
	waiting := func() map[string]corev1.Pod {
		list, err := k.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job.Name})
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]corev1.Pod{}
		for _, p := range list.Items {
			if p.Status.Phase == corev1.PodPending && p.DeletionTimestamp == nil {
				by[p.Annotations[batchv1.JobCompletionIndexAnnotation]] = p
			}
		}
		return by
	}
	tapes, folder := storeOfTapes(t), t.TempDir()
	for name, text := range files.Data {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs := func(p corev1.Pod) (string, int) {
		return ran(t, container(t, &p, map[string]string{storetest.MountPath + "/": folder + "/", "/srv/tapes": tapes})...)
	}
	var pods map[string]corev1.Pod
	until(t, "three pods", func() bool { pods = waiting(); return len(pods) == 3 })
	zero, one, two := pods["0"], pods["1"], pods["2"]
	log, code := runs(one)
	updated(t, k, &one, func(is *corev1.Pod) { exited(is, code) })
	doubled, _ := runs(two)
	log += doubled
	updated(t, k, &zero, lost)
	updated(t, k, &two, lost)
	merge := func(want int, args ...string) string {
		all := filepath.Join(folder, "log")
		if err := os.WriteFile(all, []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		return executed(t, want, slices.Concat([]string{"test", "merge", all}, args)...)
	}
	if res := tested(t, merge(1, "-o", "json")); len(res.Lacks) != 1 || res.Lacks[0] != 0 || res.Shards != 3 {
		t.Errorf("of %d shards %v lack, want shard 0 of 3", res.Shards, res.Lacks)
	}
	until(t, "the pods that were lost to run again", func() bool { pods = waiting(); return len(pods) == 2 })
	for index, p := range pods {
		if p.UID == zero.UID || p.UID == two.UID {
			t.Errorf("index %s has the pod that was lost", index)
		}
		out, code := runs(p)
		log += out
		updated(t, k, &p, func(is *corev1.Pod) { exited(is, code) })
	}
	until(t, "the Job to end", func() bool {
		if job, err = k.BatchV1().Jobs("default").Get(ctx, job.Name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		return job.Status.Succeeded == 2 && job.Status.FailedIndexes != nil && *job.Status.FailedIndexes != ""
	})
	whole := executed(t, 1, append([]string{"test", "--store", "file://" + tapes, "-o", "json"}, testAsked...)...)
	if merged := merge(1, "-o", "json"); merged != whole {
		t.Errorf("merged:\n%s\nwant what one test says:\n%s", merged, whole)
	}
	if times := strings.Count(log, storetest.ResultKind); times != 4 {
		t.Errorf("the logs have %d results, want one that is there twice among 4", times)
	}
}

// lost is what the API server says of a pod whose node was lost.
func lost(p *corev1.Pod) {
	p.Status.Phase = corev1.PodFailed
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByPodGC", LastTransitionTime: metav1.Now(),
	})
}
