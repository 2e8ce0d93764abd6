package fakeclient

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/nodesim/nodesim/timeline"
)

func TestWritesAreRefused(t *testing.T) {
	c := client(t, roll())
	ctx := t.Context()
	_, create := c.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "z"}}, metav1.CreateOptions{})
	_, patch := c.Dynamic().Resource(nodes).Patch(ctx, "a", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
	for _, err := range []error{
		create, patch,
		c.CoreV1().Pods("default").EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}}),
		c.CoreV1().Pods("default").Delete(ctx, "p", metav1.DeleteOptions{}),
		c.CoreV1().Pods("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
		c.Metadata().Resource(nodes).Delete(ctx, "a", metav1.DeleteOptions{}),
	} {
		if !apierrors.IsMethodNotSupported(err) {
			t.Errorf("%v, want 405", err)
		}
	}
	equal(t, "message", fmt.Sprint(create), `create of nodes is not allowed: this is a replay of tape "test": use fakeclient.WithWrites(fakeclient.Record) to accept writes and log them`)
	if n := len(c.Actions()); n != 0 {
		t.Errorf("%d actions recorded", n)
	}
}

func TestWritesAreRecorded(t *testing.T) {
	c := client(t, slices.Insert(roll(), 4, object(0, timeline.Added, "pods", "default/waits", 21, `{}`)), WithWrites(Record))
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	core := c.CoreV1()
	a, err := core.Nodes().Get(ctx, "a", metav1.GetOptions{})
	check(err)
	a.Labels["seen"] = "yes" // a caller's own copy
	a, err = core.Nodes().Update(ctx, a, metav1.UpdateOptions{})
	check(err)
	_, err = core.Nodes().UpdateStatus(ctx, a, metav1.UpdateOptions{})
	check(err)
	got, err := core.Nodes().Patch(ctx, "a", types.StrategicMergePatchType, []byte(`{ "spec": {"unschedulable": true} }`), metav1.PatchOptions{})
	check(err)
	if !got.Spec.Unschedulable || got.Labels["pool"] != "x" {
		t.Errorf("patched: %+v", got)
	}
	_, err = core.Nodes().Patch(ctx, "a", types.JSONPatchType, []byte(`[{"op":"add","path":"/spec/podCIDR","value":"x"}]`), metav1.PatchOptions{}, "status")
	check(err)
	_, err = core.Nodes().Apply(ctx, corev1ac.Node("new").WithLabels(map[string]string{"l": "1"}), metav1.ApplyOptions{FieldManager: "m"})
	check(err)
	check(core.Pods("default").EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}}))
	check(core.Pods("default").Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "waits", Namespace: "default"}, Target: corev1.ObjectReference{Name: "a"}}, metav1.CreateOptions{}))
	check(core.Pods("default").Delete(ctx, "p", metav1.DeleteOptions{}))
	check(core.Pods("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=web"}))
	_, err = core.ConfigMaps("kube-system").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"}}, metav1.CreateOptions{})
	check(err)
	_, err = c.Dynamic().Resource(claims).Patch(ctx, "c", types.MergePatchType, []byte(`{"spec":{"y":2}}`), metav1.PatchOptions{})
	check(err)
	_, err = c.Metadata().Resource(nodes).Patch(ctx, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"m":"1"}}}`), metav1.PatchOptions{})
	check(err)
	equal(t, "log", c.WriteLog(), strings.TrimPrefix(`
update nodes a
update nodes a status
patch nodes a strategic {"spec":{"unschedulable":true}}
patch nodes a status json [{"op":"add","path":"/spec/podCIDR","value":"x"}]
patch nodes new apply {"kind":"Node","apiVersion":"v1","metadata":{"name":"new","labels":{"l":"1"}}}
create pods default/p eviction
create pods default/waits binding
delete pods default/p
deletecollection pods default app=web
create configmaps kube-system/x-00001
patch nodeclaims.karpenter.sh c merge {"spec":{"y":2}}
patch nodes a merge {"metadata":{"labels":{"m":"1"}}}
`, "\n"))
	if n := len(c.Actions()); n != 12 {
		t.Errorf("%d actions", n)
	}

	// The tape continues as if nothing had been written.
	a, err = core.Nodes().Get(ctx, "a", metav1.GetOptions{})
	check(err)
	if a.Labels["seen"] != "" || a.Spec.Unschedulable {
		t.Errorf("a read shows a write: %+v", a)
	}
	check(c.StepTo(ctx, 1<<62))

	for what, err := range map[string]error{
		"update of a deleted node":  second(core.Nodes().Update(ctx, a, metav1.UpdateOptions{})),
		"eviction of a deleted pod": core.Pods("default").EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}}),
		"patch of a deleted node":   second(core.Nodes().Patch(ctx, "a", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})),
	} {
		if !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v, want 404", what, err)
		}
	}
	b, err := core.Nodes().Get(ctx, "b", metav1.GetOptions{})
	check(err)
	b.ResourceVersion = "11"
	if err := second(core.Nodes().Update(ctx, b, metav1.UpdateOptions{})); !apierrors.IsConflict(err) {
		t.Errorf("update of an old version: %v, want 409", err)
	}
	b.ResourceVersion = ""
	if err := second(core.Nodes().Create(ctx, b, metav1.CreateOptions{})); !apierrors.IsAlreadyExists(err) {
		t.Errorf("create of a living node: %v, want 409", err)
	}
	if err := second(core.Nodes().Patch(ctx, "b", types.MergePatchType, []byte(`{`), metav1.PatchOptions{})); !apierrors.IsBadRequest(err) {
		t.Errorf("garbage: %v, want 400", err)
	}
	if n := len(c.Writes()); n != 12 {
		t.Errorf("%d writes: what failed was recorded", n)
	}
	c.ClearActions()
	equal(t, "cleared", c.WriteLog(), "")
}

func second[T any](_ T, err error) error { return err }

func TestReadsAreForgotten(t *testing.T) {
	c := client(t, roll())
	for range 5 * keptReads {
		if _, err := c.CoreV1().Nodes().Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil { // waits for who forgets
		t.Fatal(err)
	}
	if n := len(c.Fake.Actions()); n > 2*keptReads {
		t.Errorf("%d reads are remembered", n)
	}
}

func TestReads(t *testing.T) {
	c := client(t, roll())
	ctx := t.Context()
	l, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "pool=x", FieldSelector: "metadata.name=a"})
	if err != nil || len(l.Items) != 1 || l.ResourceVersion != "50" || l.Items[0].Kind != "" {
		t.Errorf("typed list: %+v %v", l, err)
	}
	l.Items[0].Labels["pool"] = "changed"
	d, err := c.Dynamic().Resource(nodes).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil || len(d.Items) != 1 || d.GetContinue() == "" || d.GetKind() != "NodeList" || d.Items[0].GetLabels()["pool"] != "x" {
		t.Errorf("dynamic page: %+v %v", d, err)
	}
	d, err = c.Dynamic().Resource(nodes).List(ctx, metav1.ListOptions{Limit: 1, Continue: d.GetContinue()})
	if err != nil || len(d.Items) != 1 || d.GetContinue() != "" || d.Items[0].GetName() != "b" {
		t.Errorf("second page: %+v %v", d, err)
	}
	m, err := c.Metadata().Resource(pods).Namespace("default").List(ctx, metav1.ListOptions{})
	if err != nil || len(m.Items) != 1 || m.ResourceVersion != "51" || m.Items[0].Kind != "PartialObjectMetadata" {
		t.Errorf("metadata list: %+v %v", m, err)
	}
	u, err := c.Dynamic().Resource(claims).Get(ctx, "c", metav1.GetOptions{})
	if err != nil || u.GetKind() != "NodeClaim" {
		t.Errorf("custom resource: %+v %v", u, err)
	}
	unstructured.RemoveNestedField(u.Object, "metadata", "name")
	if u, err = c.Dynamic().Resource(claims).Get(ctx, "c", metav1.GetOptions{}); err != nil || u.GetName() != "c" {
		t.Errorf("a caller's change is seen by another: %v %v", u, err)
	}
	for _, err := range []error{
		second(c.CoreV1().Services("").List(ctx, metav1.ListOptions{})),
		second(c.Dynamic().Resource(pods.GroupResource().WithVersion("v7")).List(ctx, metav1.ListOptions{})),
	} {
		if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "but nodes, pods, nodeclaims.karpenter.sh") {
			t.Errorf("what isn't on the tape: %v", err)
		}
	}
	if err := second(c.Dynamic().Resource(pods).List(ctx, metav1.ListOptions{LabelSelector: "a in"})); !apierrors.IsBadRequest(err) {
		t.Errorf("garbage: %v", err)
	}
	if err := second(c.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{ResourceVersion: "7"})); !apierrors.IsResourceExpired(err) {
		t.Errorf("old version: %v", err)
	}
	groups, lists, err := c.Discovery().ServerGroupsAndResources()
	if err != nil || len(groups) != 2 || len(lists) != 2 || len(lists[0].APIResources) != 6 {
		t.Errorf("discovery: %v %v %v", groups, lists, err)
	}
	if v, err := c.Discovery().ServerVersion(); err != nil || v.Minor != "36" {
		t.Errorf("version: %v %v", v, err)
	}
}
