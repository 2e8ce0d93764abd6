package daemon

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/recorder/store"
)

// The tape of a whole roll has one name, by whomever it is made. That of an interrupted one is its recording's alone. Names are in the order of
// time, and each is one of a file and of a key.
func TestNamesOfTapes(t *testing.T) {
	began := time.Date(2026, 11, 27, 12, 10, 4, 0, time.UTC)
	whole := trigger.Roll{Group: strings.Repeat("Workers_1", 30), Part: 1, Began: began, Ended: began.Add(time.Hour), Outcome: trigger.Complete}
	cut := whole
	cut.Outcome = trigger.Interrupted
	later, moment, next := cut, cut, cut
	later.Ended = cut.Ended.Add(time.Second)
	moment.Ended = cut.Ended.Add(time.Millisecond)
	next.Began = began.Add(time.Second)
	if a, b := tapeName("c", "one", &whole), tapeName("c", "two", &whole); a != b {
		t.Errorf("found %s and %s for one whole roll, want one name", a, b)
	}
	if a, b := tapeName("c", "one", &cut), tapeName("c", "one", &cut); a != b {
		t.Errorf("found %s and %s for one tape, want one name", a, b)
	}
	names := []string{tapeName("c", "one", &whole), tapeName("c", "one", &cut), tapeName("c", "one", &later), tapeName("c", "one", &next)}
	if !slices.IsSorted(names) {
		t.Errorf("found the order %q, want that of time", names)
	}
	names = append(names, tapeName("c", "two", &cut), tapeName("other", "one", &cut), tapeName("c", "one", &moment))
	slices.Sort(names)
	if n := len(names); len(slices.Compact(names)) != n {
		t.Errorf("found one name twice in %q", names)
	}
	for _, name := range names {
		tape := store.Tape{Name: name, Cluster: "c", Began: began, Bytes: 1, SHA256: strings.Repeat("0", 64)}
		if err := tape.Check(); err != nil {
			t.Error(err)
		}
	}
}
