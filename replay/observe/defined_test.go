package observe_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// A client of a cluster that acts may define a resource that the header couldn't list. A roll doesn't look at it.
func TestAResourceThatAClientHasDefined(t *testing.T) {
	r, err := timeline.NewReader(strings.NewReader(`apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: t, recordedAt: 2026-11-01T00:00:00Z}
resources:
- {version: v1, kind: Node, resource: nodes}
---
`))
	if err != nil {
		t.Fatal(err)
	}
	f := observe.New(r.Header(), observe.Options{})
	entries, err := f.Apply(timeline.Event{Type: timeline.Added, Resource: "widgets.example.com", Name: "w", RV: "5", Object: []byte(`{}`)})
	if err != nil || len(entries) != 0 {
		t.Errorf("%v: %v", entries, err)
	}
}
