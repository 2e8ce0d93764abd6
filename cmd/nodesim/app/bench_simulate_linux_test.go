package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
)

// How long it may take to roll 15,000 nodes with 450,000 pods on two cores, and
// how much memory, the tape written to a file of eight gigabytes.
const (
	largestSeconds   = 30
	largestMegabytes = 2000
)

// BenchmarkSimulate rolls clusters from small to the largest, 30 pods on each
// node: a line of the tape should cost as much in a large one as in a small one.
// cpu-ns/line is the program's own time on all processors, RSS-MB the most
// memory that it had.
func BenchmarkSimulate(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000, 15_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			tape := filepath.Join(b.TempDir(), "tape.yaml")
			lines, cpu, most := 0, int64(0), int64(0)
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), "nodesim", "simulate", "percentage",
					"--set", fmt.Sprint("nodes=", nodes), "--set", fmt.Sprint("pods=", 30*nodes), "--out", tape)
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				lines += linesOf(b, tape)
				cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Nanoseconds()
				if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
					most = max(most, int64(usage.Maxrss)<<10/1_000_000) //nolint:unconvert // an int32 on 386
				}
				if err := os.Remove(tape); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(lines), "ns/line")
			b.ReportMetric(float64(cpu)/float64(lines), "cpu-ns/line")
			b.ReportMetric(float64(lines)/float64(b.N), "lines")
			b.ReportMetric(float64(most), "RSS-MB")
			if nodes == 15_000 {
				b.ReportMetric(largestSeconds, "limit-s")
				b.ReportMetric(largestMegabytes, "limit-RSS-MB")
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s")
		})
	}
}

var endOfTape = regexp.MustCompile(`"type":"END","events":(\d+)`)

// linesOf reads from a tape's END how many lines it has.
func linesOf(b *testing.B, tape string) int {
	b.Helper()
	f, err := os.Open(tape)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	last := make([]byte, min(info.Size(), 200))
	if _, err := f.ReadAt(last, info.Size()-int64(len(last))); err != nil {
		b.Fatal(err)
	}
	found := endOfTape.FindSubmatch(last)
	if found == nil {
		b.Fatalf("%s ends with %q: want END", tape, last)
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil || n == 0 {
		b.Fatalf("%s has %q lines: %v", tape, found[1], err)
	}
	return n
}
