package simcluster_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/timeline"
)

// A tape has no Secret, however a client writes it, and no credential of a known shape that clients wrote elsewhere or
// that actors then copied.
func TestATapeHasNoSecrets(t *testing.T) {
	const canary, credential = "canary-5f2a", "https://user:canary-5f2a@example.com/"
	c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
	k := clients(t, c)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "token", Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: canary}},
		StringData: map[string]string{"plain": canary}, Data: map[string][]byte{"binary": []byte(canary)},
	}
	secrets := k.CoreV1().Secrets("default")
	if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := secrets.Patch(t.Context(), "token", types.MergePatchType, []byte(`{"stringData":{"other":"`+canary+`"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := secrets.Delete(t.Context(), "token", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"app": "proxy"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "proxy"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{"upstream": credential}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "proxy", Image: "proxy", Env: []corev1.EnvVar{{Name: "UPSTREAM", Value: credential}}}}},
		}},
	}
	if _, err := k.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.RunFor(t.Context(), 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := c.WriteTape(&text); err != nil {
		t.Fatal(err)
	}
	for _, found := range []string{canary, "Y2FuYXJ5LTVmMmE", `"secrets"`, "resource: secrets"} {
		if line, there := lineWith(text.String(), found); there {
			t.Errorf("%q is on the tape: %.300s", found, line)
		}
	}
	for _, want := range []string{`"name":"UPSTREAM","value":"https://`, `"resource":"deployments"`, `"resource":"pods"`} {
		if _, there := lineWith(text.String(), want); !there {
			t.Errorf("%q isn't on the tape", want)
		}
	}
	sound(t, c)
	stream, err := c.Tape().Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
	}()
	h := stream.Header()
	for _, r := range h.Resources {
		if timeline.DefaultRedaction().Refuses(r) {
			t.Errorf("the header lists %s", r)
		}
	}
	for _, said := range timeline.FullRedaction().Paths() {
		if !strings.Contains(strings.Join(h.Redaction, "\n"), said) {
			t.Errorf("the header doesn't say %q", said)
		}
	}
}

// lineWith finds the first line that has a text.
func lineWith(text, part string) (line string, there bool) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line, true
		}
	}
	return "", false
}
