//go:build unix

// Package rolltape has the tapes of rolls on which benchmarks measure what a line costs.
package rolltape

import (
	"bytes"
	"syscall"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// Percentage is the tape of that scenario with so many nodes and pods.
func Percentage(b *testing.B, nodes, pods string) []byte {
	b.Helper()
	s, err := scenarios.Find("percentage")
	if err != nil {
		b.Fatal(err)
	}
	f, err := s.Document.Resolve([]scenarios.Setting{{Name: "nodes", Value: nodes}, {Name: "pods", Value: pods}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	w, err := timeline.NewWriter(&text, f.Header())
	if err != nil {
		b.Fatal(err)
	}
	sim, err := f.Simulate(w.WriteLine)
	if err == nil {
		err = sim.Run()
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	return text.Bytes()
}

// Lines counts the lines of a tape after its header.
func Lines(tape []byte) int { return bytes.Count(tape, []byte("\n--- ")) }

// ProcessorTime is what the process has used, in user and in system mode.
func ProcessorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
