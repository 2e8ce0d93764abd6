package simcluster

import (
	"fmt"
	"testing"

	"github.com/nodesim/nodesim/timeline"
)

// What waits for the tape is bounded by its size, too.
func TestWhatWaitsForTheTapeIsBounded(t *testing.T) {
	r := newRecord(timeline.Header{Resources: []timeline.Resource{{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true}}})
	big := make([]byte, 1<<20)
	for i := range big {
		big[i] = 'a'
	}
	most := 0
	for i := range 100 {
		r.add(timeline.Event{
			Type: timeline.Added, Resource: "configmaps", Namespace: "default", Name: fmt.Sprint(i), RV: "1",
			Object: fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%d","namespace":"default","resourceVersion":"1"},"data":{"a":"%s"}}`, i, big),
		})
		waits := 0
		for _, ev := range r.waiting {
			waits += len(ev.Object)
		}
		most = max(most, waits)
	}
	if most > 10<<20 || r.failed != nil {
		t.Errorf("%d bytes waited: want at most 10 MiB; %v", most, r.failed)
	}
}
