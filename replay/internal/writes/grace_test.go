package writes

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/timeline"
)

// TestGrace: how long a pod is given, counted from the tape's present, which is
// 12:00:10; dying has been given thirty seconds at noon.
func TestGrace(t *testing.T) {
	c := cluster(t)
	apply(t, c, event(t, 0, timeline.Added, `pods team/ended 101 "spec":{"nodeName":"a","terminationGracePeriodSeconds":30},"status":{"phase":"Failed"}`))
	dying := event(t, 0, timeline.Added, `pods team/dying 102 "spec":{"nodeName":"a","terminationGracePeriodSeconds":30},"status":{"phase":"Running"}`)
	dying.Object = fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"dying","namespace":"team","uid":"u","resourceVersion":"102",`+
		`"deletionTimestamp":"2026-01-02T12:00:30Z","deletionGracePeriodSeconds":30},"spec":{"nodeName":"a"},"status":{"phase":"Running"}}`)
	dying.UID = "u"
	apply(t, c, dying)
	apply(t, c, timeline.Event{At: 10 * time.Second, Type: timeline.Mark, Name: "now"})
	d := New(c, header(), nil)
	sec := func(n int64) *int64 { return &n }
	for _, test := range []struct {
		pod, want string
		grace     *int64
	}{
		{"web", `"2026-01-02T12:00:40Z" 30`, nil},
		{"web", `"2026-01-02T12:00:15Z" 5`, sec(5)},
		{"web", `"2026-01-02T12:01:10Z" 60`, sec(60)},
		{"web", `"2026-01-02T12:00:10Z" 0`, sec(0)},
		{"web", `"2026-01-02T12:00:11Z" 1`, sec(-3)},
		{"waits", `"2026-01-02T12:00:10Z" 0`, sec(5)},
		{"ended", `"2026-01-02T12:00:10Z" 0`, sec(5)},
		{"dying", `"2026-01-02T12:00:30Z" 30`, nil},
		{"dying", `"2026-01-02T12:00:30Z" 30`, sec(90)},
		{"dying", `"2026-01-02T12:00:20Z" 20`, sec(20)},
		{"dying", `"2026-01-02T12:00:10Z" 1`, sec(5)},
		{"dying", `"2026-01-02T12:00:10Z" 0`, sec(0)},
	} {
		r := ask(Delete, "pods/team/"+test.pod, "")
		r.Delete = metav1.DeleteOptions{GracePeriodSeconds: test.grace}
		asked := "as long as it likes"
		if test.grace != nil {
			asked = fmt.Sprint(*test.grace, " s")
		}
		equal(t, test.pod+" "+asked, do(t, d, r, "metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds"), "200 Pod "+test.want)
	}
}

// TestFinalizers: an object with something to wait for is marked, and answered whole.
func TestFinalizers(t *testing.T) {
	d := New(cluster(t), header(), nil)
	for policy, want := range map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationForeground: `200 Node "2026-01-02T12:00:00Z" ["foregroundDeletion"]`,
		metav1.DeletePropagationOrphan:     `200 Node "2026-01-02T12:00:00Z" ["orphan"]`,
		metav1.DeletePropagationBackground: `200 Status  `,
	} {
		r := ask(Delete, "nodes/a", "")
		r.Delete.PropagationPolicy = &policy
		equal(t, string(policy), do(t, d, r, "metadata.deletionTimestamp", "metadata.finalizers"), want)
	}
}

// TestApplyCreates: an apply of what isn't there makes it, another patch doesn't.
func TestApplyCreates(t *testing.T) {
	d := New(cluster(t), header(), nil)
	r := ask(Patch, "nodes/n", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"l":"1"}}}`)
	r.PatchType, r.Options.FieldManager = types.ApplyYAMLPatchType, "m"
	equal(t, "apply", do(t, d, r, "metadata.labels", "metadata.creationTimestamp", "spec.taints"),
		`201 Node {"l":"1"} "2026-01-02T12:00:00Z" [{"effect":"NoSchedule","key":"node.kubernetes.io/not-ready"}]`)
	r.PatchType, r.Options.FieldManager = types.MergePatchType, ""
	equal(t, "merge", do(t, d, r), `404 NotFound: nodes "n" not found`)
}
