package auditlog

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// BenchmarkConvert reads a log of status patches of 100 nodes, each logged with its answer.
func BenchmarkConvert(b *testing.B) {
	const nodes, patches = 100, 5_000
	status := `"conditions":[` + strings.Repeat(`{"type":"Ready","status":"True","reason":"KubeletReady","message":"kubelet is posting ready status"},`, 5) + `{"type":"x"}],"images":[` +
		strings.Repeat(`{"names":["registry.example.com/shop/web@sha256:0123456789012345678901234567890123456789012345678901234567890123"],"sizeBytes":123456789},`, 20) + `{}]`
	var log bytes.Buffer
	for i := range patches {
		node := fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"n%d","uid":"u%d","resourceVersion":"%d",%s},"status":{%s}}`, i%nodes, i%nodes, i+1000, born, status)
		log.WriteString(request{sec: i * 60 / patches, verb: "patch", path: fmt.Sprintf("/nodes/n%d/status", i%nodes), req: `{"status":{}}`, resp: node}.line())
	}
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		if _, err := Convert(b.Context(), bytes.NewReader(log.Bytes()), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/patches, "µs/request")
}
