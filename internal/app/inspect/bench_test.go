package inspect_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/timeline"
)

// A gigabyte of such lines should take seconds.
func BenchmarkInspect(b *testing.B) {
	var tape bytes.Buffer
	tape.WriteString(header)
	for i := range 100 {
		fmt.Fprintf(&tape, `--- {"at":"0s","type":"ADDED","resource":"nodes","name":"node-%d","uid":"u-%[1]d","rv":"%[1]d","object":{"metadata":{"labels":{"eks.amazonaws.com/nodegroup":"a"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}}`+"\n", i)
	}
	tape.WriteString(`--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"100"}` + "\n")
	const events = 50_000
	for i := range events {
		fmt.Fprintf(&tape, `--- {"at":"%d.5s","type":"MODIFIED","resource":"nodes","name":"node-%d","rv":"%d","patch":{"status":{"conditions":[`+
			`{"type":"MemoryPressure","status":"False","lastHeartbeatTime":"2026-11-20T22:21:09Z"},{"type":"Ready","status":"True","lastHeartbeatTime":"2026-11-20T22:21:09Z","reason":"KubeletReady"}]}}}`+"\n", i, i%100, i+200)
	}
	b.SetBytes(int64(tape.Len()))
	b.ResetTimer()
	for b.Loop() {
		r, err := timeline.NewReader(bytes.NewReader(tape.Bytes()), timeline.Lines())
		if err != nil {
			b.Fatal(err)
		}
		if rep, err := inspect.Tape(r); err != nil || rep.Events != events+101 {
			b.Fatal(rep.Events, err)
		}
	}
	b.ReportMetric(events*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
