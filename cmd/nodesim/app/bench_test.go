package app

import (
	"os/exec"
	"testing"
)

// The limit is 50 ms. The program under test carries the tests with it, so the
// real one is a little faster.
func BenchmarkHelp(b *testing.B) { start(b, "--help") }

// To the end of a small tape, from the start of the program.
func BenchmarkReplayOfTheDemo(b *testing.B) { start(b, "replay", "testdata/tapes/demo.yaml") }

func start(b *testing.B, args ...string) {
	b.Helper()
	for b.Loop() {
		if out, err := exec.CommandContext(b.Context(), "nodesim", args...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
}
