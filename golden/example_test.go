package golden_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/nodesim/nodesim/golden"
)

// printer represents the *testing.T of a test called TestFeed, and prints what
// the test would report.
type printer struct{ testing.TB }

func (printer) Helper()                           {}
func (printer) Name() string                      { return "TestFeed" }
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) Logf(string, ...any)               {}

// A test hands over its own t; this one prints what t would report.
func ExampleAssert() {
	t := printer{}
	feed := "T+12.412s  draining    ip-10-0-1-10\nT+41.003s  terminated  ip-10-0-1-10\n"
	golden.Assert(t, "example/feed", feed) // As accepted: nothing is said.

	feed = "T+12.412s  draining    ip-10-0-1-10\nT+58.114s  terminated  ip-10-0-1-10\n"
	golden.Assert(t, "example/feed", feed)
	// Output:
	// golden: testdata/example/feed.golden differs from what the test got (-want +got):
	//   []golden.line{
	//   	s"T+12.412s  draining    ip-10-0-1-10",
	// - 	s"T+41.003s  terminated  ip-10-0-1-10",
	// + 	s"T+58.114s  terminated  ip-10-0-1-10",
	//   }
	// accept it with: go test github.com/nodesim/nodesim/golden -run '^TestFeed$' -update
}

func ExampleNormalize() {
	line := `{"at":"0s","uid":"6f0c8c1e-9a44-4d1f-8a51-0f8a3d0f9b11","rv":"481","since":"2026-11-20T22:21:09Z"}
{"at":"9s","uid":"6f0c8c1e-9a44-4d1f-8a51-0f8a3d0f9b11","rv":"512"}`
	fmt.Println(golden.Normalize(line, golden.UIDs(), golden.ResourceVersions(), golden.Times()))
	// Output:
	// {"at":"0s","uid":"<uid:1>","rv":"<rv:1>","since":"<time:1>"}
	// {"at":"9s","uid":"<uid:1>","rv":"<rv:2>"}
}

func ExampleReplace() {
	pods := golden.Replace("pod", regexp.MustCompile(`web-[0-9a-f]+-[0-9a-z]{5}`))
	fmt.Println(golden.Normalize("web-7f9c-x2k8p evicted, web-7f9c-q4m1z blocked, web-7f9c-x2k8p gone", pods))
	// Output: <pod:1> evicted, <pod:2> blocked, <pod:1> gone
}
