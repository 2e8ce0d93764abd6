package recorder_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// BenchmarkImport makes a tape of 20,000 status patches of 100 nodes without
// arrival times: both readings of the dump, from memory to nowhere.
func BenchmarkImport(b *testing.B) {
	const nodes, events = 100, 20_000
	s := &streamer{nodes: nodes}
	var dump []byte
	for i := range nodes + events {
		typ := "MODIFIED"
		if i < nodes {
			typ = "ADDED"
		}
		dump = fmt.Appendf(dump, `{"type":%q,"object":`, typ)
		dump = append(s.node(dump, i%nodes, i+1), "}\n"...)
	}
	b.SetBytes(int64(len(dump)))
	for b.Loop() {
		_, err := recorder.Import(b.Context(), &memory{data: dump}, recorder.ImportOptions{
			Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.NewWriter(io.Discard, h) },
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/(nodes+events), "µs/event")
}

// memory is a dump that can be read again.
type memory struct {
	data []byte
	at   int
}

func (m *memory) Read(p []byte) (int, error) {
	if m.at == len(m.data) {
		return 0, io.EOF
	}
	n := copy(p, m.data[m.at:])
	m.at += n
	return n, nil
}

func (m *memory) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		m.at = int(offset)
	}
	return int64(m.at), nil
}
