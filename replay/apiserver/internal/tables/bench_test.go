package tables

import (
	"testing"

	"github.com/nodesim/nodesim/timeline"
)

// BenchmarkPod prints pods of all kinds.
func BenchmarkPod(b *testing.B) {
	objects := objectsOf(b, "testdata/pods.yaml")
	p := For(timeline.Resource{Version: "v1", Resource: "pods"}, nil)
	for i := 0; b.Loop(); i++ {
		if _, _, err := p.Cells(objects[i%len(objects)], now); err != nil {
			b.Fatal(err)
		}
	}
}
