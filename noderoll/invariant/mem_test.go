package invariant_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// BenchmarkCheckerMemory measures what a living pod takes.
func BenchmarkCheckerMemory(b *testing.B) {
	header, events, err := recorded["surge"]()
	if err != nil {
		b.Fatal(err)
	}
	var pod timeline.Event
	for _, ev := range events {
		if ev.Resource == noderoll.Pods && ev.Type.Object() && bytes.Contains(ev.Object, []byte(`"phase":"Running"`)) {
			pod = ev
		}
	}
	for b.Loop() {
		const many = 50_000
		c := inspect.NewChecker(header, inspect.CheckOptions(header))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range many {
			ev := pod
			ev.Type, ev.At = timeline.Added, 0
			ev.Name, ev.UID, ev.RV = fmt.Sprintf("web-64cf8d68d9-%05d", i), fmt.Sprintf("9b6167d2-b3a8-4131-a5af-f4986ae%05d", i), fmt.Sprint(i+1000)
			c.Observe(ev, 0)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/many, "B/pod")
		runtime.KeepAlive(c)
	}
}
