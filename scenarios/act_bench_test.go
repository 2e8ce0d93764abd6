package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// BenchmarkAct is the start of a cluster that acts, and a client's write of a pod and of a node.
func BenchmarkAct(b *testing.B) {
	text := `
metadata: {name: acting, title: a hundred nodes}
cluster: {provider: eks}
groups: [{name: workers, nodes: 100}]
workloads: [{name: web, namespace: shop, replicas: 1000, requests: {cpu: 100m}}]
`
	b.Run("start", func(b *testing.B) {
		b.ReportAllocs()
		f := file(b, text)
		for b.Loop() {
			if _, err := f.Act(scenarios.ActConfig{AtRest: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, resource := range []string{"nodes", "pods"} {
		b.Run("put "+resource, func(b *testing.B) {
			b.ReportAllocs()
			a, err := file(b, text).Act(scenarios.ActConfig{AtRest: true})
			if err != nil {
				b.Fatal(err)
			}
			var ev timeline.Event
			for one, ok := a.Made(); ok; one, ok = a.Made() {
				if one.Resource == resource && one.Type == timeline.Added {
					ev = one
				}
			}
			ev.Type = timeline.Modified
			own := ev.Object
			for i := 0; b.Loop(); i++ {
				ev.Object = fmt.Appendf(nil, `%s,"x":%d}`, own[:len(own)-1], i)
				if _, err := a.Put(ev); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
