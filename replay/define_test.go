package replay_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/internal/testing/emptycluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// What is defined is served in each version, and no longer when it isn't.
func TestDefine(t *testing.T) {
	pods := timeline.Resource{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
	p, err := replay.NewEnginePlayer(emptycluster.New(&timeline.Header{Metadata: timeline.Metadata{Name: "empty"}, Resources: []timeline.Resource{pods}}, 7))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	c := p.Cluster()
	v1 := timeline.Resource{Group: "example.com", Version: "v1", Kind: "Pod", Resource: "pods"}
	v2 := v1
	v2.Version = "v2"
	gr := schema.GroupResource{Group: "example.com", Resource: "pods"}
	c.Define(gr, v2, v1)
	l, err := c.List(gr.WithVersion("v1"), "", metav1.ListOptions{})
	if err != nil || l.ResourceVersion != "7" || len(c.Resources()) != 3 || c.Definitions() != 1 {
		t.Error(err, l, c.Resources())
	}
	w, err := c.Watch(gr.WithVersion("v1"), "", metav1.ListOptions{ResourceVersion: l.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	err = p.Transact(func(tx *replay.Tx) error {
		_, err := tx.Put(timeline.Event{Type: timeline.Added, Resource: "pods.example.com", Name: "a", Object: []byte(`{"metadata":{"name":"a"}}`)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if ev, err := w.TryNext(); err != nil || ev.Object.ResourceVersion() != "8" {
		t.Error(ev, err)
	}
	w.Stop()
	initial := true
	w, err = c.Watch(gr.WithVersion("v1"), "", metav1.ListOptions{AllowWatchBookmarks: true, SendInitialEvents: &initial, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.TryNext() // the object
	if mark, err := w.TryNext(); err != nil || mark.Type != watch.Bookmark || !strings.Contains(string(mark.Object.Raw()), `"apiVersion":"example.com/v1"`) {
		t.Errorf("found %v %v, want a bookmark of the version that is watched", mark, err)
	}
	w.Stop()
	for _, version := range []string{"v1", "v2"} {
		if o, _, err := c.GetUnfaulted(gr.WithVersion(version), "", "a"); err != nil || o.Name() != "a" {
			t.Error(version, err)
		}
	}
	if l, err := c.List(schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "", metav1.ListOptions{}); err != nil || len(l.Items) > 0 {
		t.Error(err, l)
	}
	c.Define(gr)
	if _, known := c.Resource(gr.WithVersion("v2")); known || len(c.Resources()) != 1 {
		t.Error("it is served still", c.Resources())
	}
}
