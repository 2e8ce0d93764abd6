package tapediff_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/timeline"
)

// The watch of nodes is late: what it delivers comes before what was written after it. A list, and changes of one resource,
// stay where they are.
func TestLinesAreInTheOrderOfTheServer(t *testing.T) {
	var text bytes.Buffer
	w, err := timeline.NewWriter(&text, *tape(t, "surge").Header())
	if err != nil {
		t.Fatal(err)
	}
	object := []byte(`{}`)
	for i, ev := range []timeline.Event{
		{Type: timeline.Added, Resource: "nodes", Name: "n", RV: "3", Object: object},
		{Type: timeline.Sync, Resource: "nodes", RV: "9"},
		{Type: timeline.Added, Resource: "pods", Namespace: "d", Name: "p", RV: "2", Object: object},
		{Type: timeline.Sync, Resource: "pods", RV: "9"},
		{Type: timeline.Modified, Resource: "pods", Namespace: "d", Name: "p", RV: "11", Object: object},
		{Type: timeline.Modified, Resource: "pods", Namespace: "d", Name: "p", RV: "13", Object: object},
		{Type: timeline.Modified, Resource: "nodes", Name: "n", RV: "10", Object: object},
		{Type: timeline.Modified, Resource: "nodes", Name: "n", RV: "12", Object: object},
		{Type: timeline.Modified, Resource: "pods", Namespace: "d", Name: "p", RV: "20", Object: object},
		{Type: timeline.Deleted, Resource: "nodes", Name: "n", RV: "14"},
	} {
		ev.At = time.Duration(i) * time.Second
		if err := w.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := timeline.NewReader(&text)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := tapediff.Lines(r)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for i, l := range lines {
		if l.At != time.Duration(i)*time.Second {
			t.Errorf("line %d is at %s, want times in their places", l.Number, l.At)
		}
		found = append(found, fmt.Sprint(l.Type, " ", l.Resource, " ", l.RV))
	}
	want := []string{
		"ADDED nodes 3", "SYNC nodes 9", "ADDED pods 2", "SYNC pods 9",
		"MODIFIED nodes 10", "MODIFIED pods 11", "MODIFIED nodes 12", "MODIFIED pods 13", "DELETED nodes 14", "MODIFIED pods 20",
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %q\nwant %q", found, want)
	}
}
