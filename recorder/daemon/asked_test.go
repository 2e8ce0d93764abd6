package daemon_test

import (
	"slices"
	"strings"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"
)

// A history goes on where the same is asked for, in the same words; what was asked for otherwise doesn't narrow what is recorded now.
func TestHistoryOfAnotherScope(t *testing.T) {
	a, dir := cluster(t), t.TempDir()
	clock := clocktesting.NewFakeClock(start)
	o := options(a, dir)
	for _, c := range []struct {
		selector string
		anew     bool
	}{{"eks.amazonaws.com/nodegroup=a", false}, {"eks.amazonaws.com/nodegroup=a", false}, {"", true}} {
		o.Record.Scope.Selector = c.selector
		r := run(t, o, clock)
		r.recording()
		r.mu.Lock()
		anew := slices.ContainsFunc(r.logs, func(line string) bool { return strings.Contains(line, "a new history begins") })
		r.mu.Unlock()
		if anew != c.anew {
			t.Errorf("with the selector %q a new history begins: %t, want %t; log:\n%s", c.selector, anew, c.anew, strings.Join(r.logs, "\n"))
		}
		if c.anew {
			a.node("MODIFIED", "b-1", `"unschedulable":true`)
			a.node("DELETED", "b-1", `"unschedulable":true`)
			if tapes := r.finished(1); tapes[0].Group != "b" {
				t.Errorf("found a tape of %s, want that of a group that was out of scope before", tapes[0].Group)
			}
		}
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
	}
}
