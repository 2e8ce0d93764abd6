//go:build controlplane

package recorder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const canary = "hunter2-do-not-record"

// A canary in environment, args, command, annotations, a termination message
// and a Deployment's template is on no default tape; Secrets are refused.
func TestCanary(t *testing.T) {
	c := testcluster.Shared(t)
	client, ctx := c.Client(), t.Context()
	spec := corev1.PodSpec{NodeName: "somewhere", Containers: []corev1.Container{{
		Name: "web", Image: "web:1", Command: []string{canary}, Args: []string{canary},
		Env: []corev1.EnvVar{{Name: "DB_PASSWORD", Value: canary}},
	}}}
	meta := metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"example.com/password": canary}}
	pods := client.CoreV1().Pods("default")
	pod, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: canary},
	}}}
	if _, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"app": "web"}
	if _, err := client.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: meta.Annotations}, Spec: spec},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	tape := func(full bool) string {
		file := filepath.Join(t.TempDir(), "tape.yaml")
		rec, err := recorder.New(recorder.Config{
			REST: c.Config(), Name: "canary", Resources: []string{"pods", "deployments.apps"}, Full: full,
			Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create(file, h) },
			Stop: func(ev timeline.Event) bool { return ev.Type == timeline.Sync && ev.Resource == "deployments" },
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rec.Run(ctx); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := tape(false); strings.Contains(text, canary) || !strings.Contains(text, `"image":"web:1"`) {
		t.Errorf("want a tape with the image and without the canary:\n%s", text)
	}
	if text := tape(true); strings.Count(text, canary) < 9 {
		t.Errorf("found the canary %d times on a full tape, want it everywhere:\n%s", strings.Count(text, canary), text)
	}
}

// A user that may list but not watch, or nothing at all, is told before a tape is made.
func TestForbidden(t *testing.T) {
	c := testcluster.Shared(t)
	for name, verbs := range map[string][]string{"watch": {"list"}, "list": {"watch"}} {
		config, err := c.User(t.Context(), "no-"+name, testcluster.Rule("", []string{"nodes"}, verbs...))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := recorder.New(recorder.Config{
			REST: config, Resources: []string{"nodes"},
			Open: func(timeline.Header) (*timeline.Writer, error) {
				t.Error("the tape was made")
				return nil, os.ErrInvalid
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = rec.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), name+" nodes: 403 Forbidden") || !strings.Contains(err.Error(), "kubectl auth can-i "+name+" nodes") {
			t.Errorf("found %v, want it to say that %s of nodes is forbidden", err, name)
		}
	}
}
