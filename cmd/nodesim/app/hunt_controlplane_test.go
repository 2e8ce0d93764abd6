//go:build controlplane

package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	search "github.com/nodesim/nodesim/internal/app/hunt"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

// A real API server takes the manifest, and a real controller gives each of the Job's pods its index. The test plays their kubelet: it runs
// the program with what each container has, and says how it ended. An index whose shard finds something fails, and no other; merged, the
// results are what one search finds.
func TestHuntManifestOnAControlPlane(t *testing.T) {
	c := testcluster.New(t, testcluster.Options{Controllers: []string{"job-controller"}})
	err := c.StartControllers()
	if err != nil {
		t.Fatal(err)
	}
	asked := []string{"surge", "--cases", "6", "--seed", "1", "--policy", "no-stuck-roll"}
	files, job := manifest(t, executed(t, 0, append([]string{"hunt", "manifest", "--shards", "3", "--image", "registry.example/nodesim:v1"}, asked...)...))
	k, ctx := c.Client(), t.Context()
	strict := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	if _, err := k.CoreV1().ConfigMaps("default").Create(ctx, files, strict); err != nil {
		t.Fatal(err)
	}
	if _, err := k.BatchV1().Jobs("default").Create(ctx, job, strict); err != nil {
		t.Fatal(err)
	}
	pods := func() []corev1.Pod {
		list, err := k.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job.Name})
		if err != nil {
			t.Fatal(err)
		}
		return list.Items
	}
	until(t, "three pods", func() bool { return len(pods()) == 3 })
	folder := t.TempDir()
	for name, text := range files.Data {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, failed := "", 0
	for _, p := range pods() {
		out, code := ran(t, container(t, &p, map[string]string{search.MountPath: folder})...)
		log += out
		if code != 0 {
			failed++
		}
		updated(t, k, &p, func(is *corev1.Pod) { exited(is, code) })
	}
	until(t, "the Job to end", func() bool {
		if job, err = k.BatchV1().Jobs("default").Get(ctx, job.Name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		return int(job.Status.Succeeded) == 3-failed && job.Status.FailedIndexes != nil && *job.Status.FailedIndexes != ""
	})
	all := filepath.Join(folder, "log")
	if err := os.WriteFile(all, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	merged, whole := found(t, executed(t, 1, "hunt", "merge", "-o", "json", all)), found(t, executed(t, 1, append([]string{"hunt", "-o", "json"}, asked...)...))
	if failed == 0 || failed == 3 || merged != whole {
		t.Errorf("%d shards found something, and merged they found %+v: want some, and %+v", failed, merged, whole)
	}
}

// updated changes the status of a pod, as a kubelet does.
func updated(t *testing.T, k kubernetes.Interface, p *corev1.Pod, change func(*corev1.Pod)) {
	t.Helper()
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { // the scheduler writes to it as well
		is, err := k.CoreV1().Pods(p.Namespace).Get(t.Context(), p.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(is)
		_, err = k.CoreV1().Pods(p.Namespace).UpdateStatus(t.Context(), is, metav1.UpdateOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// exited is what a kubelet says of a pod whose container has exited.
func exited(p *corev1.Pod, code int) {
	now := metav1.Now()
	p.Status.Phase = corev1.PodSucceeded
	if code != 0 {
		p.Status.Phase = corev1.PodFailed
	}
	p.Status.StartTime = &now
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  p.Spec.Containers[0].Name,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code), StartedAt: now, FinishedAt: now}},
	}}
}

// until waits for a controller.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	tooLate := time.After(2 * time.Minute)
	for !ok() {
		select {
		case <-look.C:
		case <-tooLate:
			t.Fatalf("%s: it didn't come within two minutes", what)
		}
	}
}
