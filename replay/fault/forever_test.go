package fault_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
)

// Lists that stay old forever don't lead back before a history that is gone:
// a client that lists and watches from there comes to the present.
func TestOldListsLeadPastWhatIsGone(t *testing.T) {
	p, err := replay.NewPlayer(replay.File("../../examples/surge.yaml"), fault.Inject("gone:pods,p=0.2", "stale-list:pods,by=5s"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Seek(t.Context(), replay.End); err != nil {
		t.Fatal(err)
	}
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	l, err := p.Cluster().List(pods, "", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.Cluster().Watch(pods, "", metav1.ListOptions{ResourceVersion: l.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := w.TryNext()
		if replay.IsNoEvent(err) {
			return
		}
		if err != nil || ev.Status != nil {
			t.Fatalf("a list at %s, and a watch from there: %v, %+v, want what has come since", l.ResourceVersion, err, ev.Status)
		}
	}
}
