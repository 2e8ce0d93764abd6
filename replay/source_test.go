package replay

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// A tape made in a program may spell its JSON as it likes: selectors find what
// they would find on a file.
func TestEventsInAnySpelling(t *testing.T) {
	mine := []byte(`{ "kind": "Node", "apiVersion": "v1",
		"metadata": {"name": "a", "uid": "u", "resourceVersion": "5", "labels": {"pool": "\u0078"}},
		"spec": { "unschedulable" : true } }`)
	spelt := string(mine)
	p, err := NewPlayer(Events(header(), []timeline.Event{{Type: timeline.Added, Resource: "nodes", Name: "a", UID: "u", RV: "5", Object: mine}}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	l, err := p.Cluster().List(nodes, "", metav1.ListOptions{LabelSelector: "pool=x", FieldSelector: "spec.unschedulable=true"})
	if err != nil || len(l.Items) != 1 || l.Items[0].ResourceVersion() != "5" {
		t.Errorf("got %+v, %v", l, err)
	}
	equal(t, "the caller's bytes", string(mine), spelt)
}

func TestEventsThatAreNoJSON(t *testing.T) {
	_, err := NewPlayer(Events(header(), []timeline.Event{
		{Type: timeline.Sync, Resource: "nodes", RV: "4"},
		{Type: timeline.Added, Resource: "nodes", Name: "a", RV: "5", Object: []byte(`{"kind":'Node'}`)},
	}))
	const want = `event 2 at 0s: ADDED nodes "a": an object that is no JSON (byte 8: `
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
}
