package writes

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkDo measures what a write costs beside the wire.
func BenchmarkDo(b *testing.B) {
	cordon := ask(Patch, "nodes/a", `{"spec":{"unschedulable":true}}`)
	cordon.PatchType = types.StrategicMergePatchType
	applied := ask(Patch, "nodes/a", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","labels":{"l":"1"}}}`)
	applied.PatchType, applied.Options.FieldManager = types.ApplyYAMLPatchType, "m"
	for name, r := range map[string]Request{
		"strategic": cordon, "apply": applied,
		"evict": ask(Create, "pods/team/waits/eviction", `{"metadata":{"name":"waits"}}`),
		"event": ask(Create, "events/team", `{"metadata":{"generateName":"e-"},"reason":"R","message":"m"}`),
	} {
		b.Run(name, func(b *testing.B) {
			d := New(cluster(b), header(), nil)
			if _, err := d.Handle(b.Context(), r); err != nil { // the schemas are read once
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Handle(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
