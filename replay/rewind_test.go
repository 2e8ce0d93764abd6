package replay

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRewind(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	key := c.State()
	apply(t, c, "1 MODIFIED nodes a 60\n2 DELETED nodes b 98143")
	w := open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "60"})
	c.Rewind(key)
	equal(t, "open watch", show(t, w), "DELETED b@98143 ERROR 410 Expired EOF")
	equal(t, "no older than an old version", list(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "98143"}), "@100050 a@100010 b@100020")
	equal(t, "stamped", list(t, c, nodes, "", metav1.ListOptions{}), "@100050 a@100010 b@100020")
	for _, v := range []string{"60", "98143", "100049"} {
		if _, err := c.Watch(nodes, "", metav1.ListOptions{ResourceVersion: v}); !apierrors.IsResourceExpired(err) {
			t.Errorf("watch from %s: %v, want 410 Expired", v, err)
		}
	}
	w = open(t, c, nodes, "", metav1.ListOptions{ResourceVersion: "100050"})
	apply(t, c, "1 MODIFIED nodes a 60\n2 DELETED nodes b 98143")
	equal(t, "again", show(t, w), "MODIFIED a@100060 DELETED b@198143")
	c.Rewind(nil)
	equal(t, "empty", list(t, c, nodes, "", metav1.ListOptions{}), "@200001")
	apply(t, c, start)
	equal(t, "from the top", list(t, c, nodes, "", metav1.ListOptions{}), "@200050 a@200010 b@200020")
	if _, err := c.Watch(pods, "", metav1.ListOptions{ResourceVersion: "51"}); !apierrors.IsResourceExpired(err) {
		t.Errorf("watch from an old version: %v", err)
	}
}
