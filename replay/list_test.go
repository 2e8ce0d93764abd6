package replay

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestSelectors(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	byNode := open(t, c, pods, "", metav1.ListOptions{FieldSelector: "spec.nodeName=a,status.phase!=Failed", ResourceVersion: "51"})
	byLabel := open(t, c, pods, "default", metav1.ListOptions{LabelSelector: "app in (x)", ResourceVersion: "51"})
	apply(t, c, `
		1 ADDED pods default/q 60 app=x
		1 MODIFIED pods default/q 61 spec.nodeName=a app=x
		2 MODIFIED pods default/p 62 spec.nodeName=a status.phase=Failed
		3 MODIFIED pods default/q 63 spec.nodeName=a
		4 DELETED pods default/q 64 spec.nodeName=a
		5 ADDED pods other/q 65 app=x`)
	equal(t, "by field", show(t, byNode), "ADDED q@61 DELETED p@62 MODIFIED q@63 DELETED q@64")
	equal(t, "by label", show(t, byLabel), "ADDED q@60 MODIFIED q@61 DELETED q@63")
	equal(t, "unschedulable", list(t, c, nodes, "", metav1.ListOptions{FieldSelector: "spec.unschedulable=false"}), "@50 a@10 b@20")
	equal(t, "old name", list(t, c, pods, "", metav1.ListOptions{FieldSelector: "spec.host=a"}), "@65 default/p@62")
	for _, bad := range []metav1.ListOptions{
		{FieldSelector: "status.hostIP=1"}, {FieldSelector: "x"}, {LabelSelector: "a in"}, {ResourceVersion: "abc"},
	} {
		if _, err := c.List(pods, "", bad); !apierrors.IsBadRequest(err) {
			t.Errorf("%+v: %v, want 400", bad, err)
		}
	}
	_, err := c.List(pods, "", metav1.ListOptions{FieldSelector: "status.hostIP=1"})
	equal(t, "message", err.Error(), "field label not supported: status.hostIP")
}

func TestFuture(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	_, err := c.List(nodes, "", metav1.ListOptions{ResourceVersion: "51"})
	if !apierrors.IsTimeout(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("list: %v", err)
	}
	w := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "65"})
	apply(t, c, "1 MODIFIED nodes a 60\n1 MODIFIED nodes a 65\n1 MODIFIED nodes a 66")
	equal(t, "silence until then", show(t, w), "MODIFIED a@66")
}

func TestPages(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start+"0 ADDED nodes c 55\n0 ADDED nodes d 56")
	l, err := c.List(nodes, "", metav1.ListOptions{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "first", showList(l)+fmt.Sprint(" +", *l.Remaining), "@56 a@10 b@20 +2")
	apply(t, c, "1 DELETED nodes c 60\n1 MODIFIED nodes d 61\n1 ADDED nodes e 62")
	next, err := c.List(nodes, "", metav1.ListOptions{Limit: 1, Continue: l.Continue})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "second", showList(next), "@56 c@55")
	last, err := c.List(nodes, "", metav1.ListOptions{Limit: 2, Continue: next.Continue})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "last", showList(last)+last.Continue, "@56 d@56")
	equal(t, "exact", list(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "60", ResourceVersionMatch: "Exact"}), "@60 a@10 b@20 d@56")
	equal(t, "not older", list(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "60"}), "@62 a@10 b@20 d@61 e@62")
	if _, err := c.List(nodes, "", metav1.ListOptions{Continue: "nonsense"}); !apierrors.IsBadRequest(err) {
		t.Errorf("bad token: %v", err)
	}
}

func TestUnknownResourceAndObject(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	if _, err := c.List(schema.GroupVersionResource{Version: "v1", Resource: "services"}, "", metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("resource: %v", err)
	}
	_, err := c.Get(nodes, "", "zz", metav1.GetOptions{})
	equal(t, "object", fmt.Sprint(err), `nodes "zz" not found`)
	o, err := c.Get(pods, "default", "p", metav1.GetOptions{ResourceVersion: "51"})
	if err != nil || o.UID() != "uid-p" {
		t.Errorf("get: %v %v", o, err)
	}
}
