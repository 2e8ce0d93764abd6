package calibrate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

func TestWhatAKubeletSaysOfAPull(t *testing.T) {
	for _, c := range []struct {
		message string
		took    time.Duration
		bytes   int64
		ok      bool
	}{
		{`Successfully pulled image "web:1" in 1.234s (1.5s including waiting). Image size: 52428800 bytes.`, 1234 * time.Millisecond, 52428800, true},
		{`Successfully pulled image "web:1" in 1m2.5s (1m2.5s including waiting)`, 62500 * time.Millisecond, 0, true},
		{`Successfully pulled image "web:1" in 897.123456ms`, 897123456, 0, true},
		{`Successfully pulled image "web:1" in 2s.`, 2 * time.Second, 0, true},
		{`Successfully pulled image "a" in 3s" in 4s (4s including waiting). Image size: -7 bytes.`, 0, 0, false},
		{`Successfully pulled image "web:1" in 4s (4s including waiting). Image size: -7 bytes.`, 4 * time.Second, 0, true},
		{`Successfully pulled image "web:1" in 4s (4s including waiting). Image size: 99999999999999999999 bytes.`, 4 * time.Second, 0, true},
		{`Successfully pulled image "web:1" in -4s`, 0, 0, false},
		{`Successfully pulled image "web:1" in 99999h`, 0, 0, false},
		{`Successfully pulled image "web:1"`, 0, 0, false},
		{`Container image "web:1" already present on machine`, 0, 0, false},
		{``, 0, 0, false},
	} {
		took, bytes, ok := pulledIn(c.message)
		if took != c.took || bytes != c.bytes || ok != c.ok {
			t.Errorf("%s: %s, %d bytes, %t; want %s, %d, %t", c.message, took, bytes, ok, c.took, c.bytes, c.ok)
		}
	}
	if got := containerOf("spec.initContainers{mesh-init}"); got != "mesh-init" {
		t.Errorf("the container is %q", got)
	}
	if got := quoted(`Pulling image "web:1"`); got != "web:1" {
		t.Errorf("the image is %q", got)
	}
}

// The traces are of timings that there are, in their order.
func TestTracesAreOfTimings(t *testing.T) {
	var names []string
	for _, n := range model.TimingNames() {
		names = append(names, n.Name)
	}
	last := -1
	for _, trace := range traces {
		at := slices.Index(names, trace.timing)
		if at <= last {
			t.Errorf("%s: want a timing that comes after the one before it in model.TimingNames", trace.timing)
		}
		last = at
	}
}

// The table of docs/calibrate.md is the code's.
func TestDocsAreTheCode(t *testing.T) {
	var b strings.Builder
	b.WriteString("| timing | from | until | wants |\n|---|---|---|---|\n")
	for _, c := range traces {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.timing, c.from, c.until, c.wants)
	}
	golden.AssertPart(t, filepath.Join("..", "..", "docs", "calibrate.md"), "traces", b.String())
}
