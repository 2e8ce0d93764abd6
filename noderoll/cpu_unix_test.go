//go:build unix

package noderoll_test

import (
	"syscall"
	"testing"
)

// reportCPU adds the processor time of the whole process, garbage collection
// and reflectors included, to what a benchmark reports. Unlike ns/op it holds
// on a machine that does other things as well. Call it before the loop and the
// result after it.
func reportCPU(b *testing.B) func() {
	start := cpuTime(b)
	return func() { b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N), "cpu-ns/op") }
}

func cpuTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
