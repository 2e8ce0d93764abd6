package replay

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The object that leaves is sent as it was, with the version of the change.
func TestLeavingCarriesTheOldState(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	w := open(t, c, nodes, "", metav1.ListOptions{LabelSelector: "pool=x", ResourceVersion: "50"})
	apply(t, c, "1 MODIFIED nodes a 60 pool=y")
	ev, err := w.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "left", fmt.Sprint(ev.Type, " ", ev.Object.Labels(), " ", ev.Object.ResourceVersion()), "DELETED pool=x 60")
}

func TestWatchList(t *testing.T) {
	c := NewCluster(header())
	apply(t, c, start)
	yes, no := true, false
	opts := metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: "NotOlderThan", AllowWatchBookmarks: true}
	w := open(t, c, nodes, "", opts)
	apply(t, c, "1 MODIFIED nodes a 60\n2 SYNC nodes 77")
	equal(t, "streamed", show(t, w), "ADDED a@10 ADDED b@20 END@50 MODIFIED a@60 BOOKMARK @77")
	opts.SendInitialEvents = &no
	equal(t, "only news", show(t, open(t, c, nodes, "", opts)), "")
	opts.ResourceVersion = "1000"
	opts.SendInitialEvents = &yes
	ev, err := open(t, c, nodes, "", opts).TryNext()
	if err != nil || !apierrors.HasStatusCause(&apierrors.StatusError{ErrStatus: *ev.Status}, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("from the future: %v %v, want an ERROR that says so", ev, err)
	}
	opts.ResourceVersionMatch = ""
	if _, err := c.Watch(nodes, "", opts); !apierrors.IsInvalid(err) {
		t.Errorf("without match: %v, want 422", err)
	}
	equal(t, "as of old", show(t, open(t, c, nodes, "", metav1.ListOptions{})), "ADDED a@60 ADDED b@20")
}
