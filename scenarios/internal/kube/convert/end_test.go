package convert_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A container ends as its command says, where that is one of a few.
func TestEnds(t *testing.T) {
	atOnce := func(code int) kube.End { return kube.End{After: -1, Code: code} }
	for _, one := range []struct {
		command []string
		want    kube.End
	}{
		{nil, kube.End{}},
		{[]string{"nginx"}, kube.End{}},
		{[]string{"/bin/true"}, atOnce(0)},
		{[]string{"false"}, atOnce(1)},
		{[]string{"sleep", "30"}, kube.End{After: 30 * time.Second}},
		{[]string{"/bin/sleep", "1.5m"}, kube.End{After: 90 * time.Second}},
		{[]string{"sleep", "infinity"}, kube.End{}},
		{[]string{"sleep", "inf"}, kube.End{}},
		{[]string{"sleep", "NaN"}, kube.End{}},
		{[]string{"sleep", "1000000d"}, kube.End{}},
		{[]string{"sleep", "600000000", "600000000"}, kube.End{}},
		{[]string{"sh", "-c", "sleep 600000000; sleep 600000000"}, kube.End{}},
		{[]string{"sleep"}, kube.End{}},
		{[]string{"sleep", ""}, kube.End{}},
		{[]string{"sh", "-c", "sleep 5; exit 3"}, kube.End{After: 5 * time.Second, Code: 3}},
		{[]string{"bash", "-ec", "echo hi && sleep 1 && false"}, kube.End{After: time.Second, Code: 1}},
		{[]string{"sh", "-c", "exit 3; sleep 5"}, atOnce(3)},
		{[]string{"sh", "-c", "while true; do sleep 1; done"}, kube.End{}},
		{[]string{"sh", "-c", "exit 300"}, kube.End{}},
		{[]string{"sh", "-c", ""}, atOnce(0)},
		{[]string{"sh", "-c", "false && echo done"}, atOnce(1)},
		{[]string{"sh", "-c", "false && sleep 3600"}, atOnce(1)},
		{[]string{"sh", "-c", "false || true"}, atOnce(0)},
		{[]string{"sh", "-c", "true || exit 4; exit 5"}, atOnce(5)},
		{[]string{"sh", "-c", "true &&\n\nfalse"}, atOnce(1)},
		{[]string{"sh", "-c", "false\n"}, atOnce(1)},
		{[]string{"sh", "-c", "echo failing >&2; exit 1"}, atOnce(1)},
		{[]string{"sh", "-c", "echo x | grep y"}, kube.End{}},
		{[]string{"sh", "-c", "sleep 5 & exit 1"}, kube.End{}},
		{[]string{"sh", "-c", "true && ; false"}, kube.End{}},
	} {
		got := convert.TemplateFromAPI(&corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Args: one.command}}}})
		if got.Containers[0].End != one.want {
			t.Errorf("%q: %+v, want %+v", one.command, got.Containers[0].End, one.want)
		}
	}
	got := convert.TemplateFromAPI(&corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"nodesim.dev/exit": "0s", "nodesim.dev/exit-code": "7"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Command: []string{"nginx"}}}},
	})
	if got.Containers[0].End != atOnce(7) {
		t.Errorf("by its annotations: %+v", got.Containers[0].End)
	}
}
