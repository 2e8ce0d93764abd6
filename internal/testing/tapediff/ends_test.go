package tapediff_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/timeline"
)

// upTo ends a tape early.
func upTo(t *testing.T, name string, end time.Duration) *timeline.Reader {
	return edited(t, name, func(ev timeline.Event) []timeline.Event {
		switch {
		case ev.Type == timeline.End:
			ev.At = end
		case ev.At > end:
			return nil
		}
		return []timeline.Event{ev}
	})
}

// A tape that ends a little earlier lacks only what comes last; one that ends much earlier lacks a part of the story.
func TestTapeThatEndsEarly(t *testing.T) {
	for _, c := range []struct {
		name  string
		end   time.Duration
		equal bool
	}{
		{"surge", 53 * time.Second, true},
		{"surge", 51 * time.Second, true},
		{"surge", 40 * time.Second, false},
		{"surge", 30 * time.Second, false},
		{"spot-vanish", 60 * time.Second, false},
		{"stuck-drain", 14 * time.Second, true}, // blocked comes at 15 s
	} {
		report := compare(t, tape(t, c.name), upTo(t, c.name, c.end), tapediff.Options{InOrder: true})
		if report.Equal() != c.equal || c.equal && report.Cut == 0 {
			t.Errorf("%s up to %s: want equal %t, found %s", c.name, c.end, c.equal, report)
		}
	}
}

// What a tape lacks in its middle is no matter of its end.
func TestEndExcusesNothingBeforeIt(t *testing.T) {
	const lost = "ip-10-0-1-12" // its taint comes twelve seconds before the tape's end
	report := compare(t, tape(t, "surge"), edited(t, "surge", changed(t, "nodes", func(ev timeline.Event, o object) {
		if ev.Name == lost {
			delete(o.at("spec"), "taints")
		}
	})), tapediff.Options{Tail: time.Hour})
	if got := found(report); len(got) != 1 || got[0] != "node old-3: taints NoSchedule" {
		t.Errorf("found %q, want the taint of old-3\n%s", got, report)
	}
}

func TestTapeWithAGapIsRefused(t *testing.T) {
	gap := edited(t, "surge", func(ev timeline.Event) []timeline.Event {
		if ev.Type == timeline.End {
			return []timeline.Event{{At: ev.At, Type: timeline.Gap, Resource: "pods", RV: "9", Reason: "410"}, ev}
		}
		return []timeline.Event{ev}
	})
	_, err := tapediff.Compare(tape(t, "surge"), gap, tapediff.Options{NameB: "cut.yaml"})
	if err == nil || !strings.Contains(err.Error(), "compare cut.yaml: line") ||
		!strings.Contains(err.Error(), "found a GAP of pods, want a tape without") {
		t.Errorf("found error %v, want one that names tape, line and gap", err)
	}
}

func TestObjectThatIsNone(t *testing.T) {
	odd := edited(t, "surge", changed(t, "nodes", func(_ timeline.Event, o object) { o["spec"] = "none" }))
	if _, err := tapediff.Compare(odd, tape(t, "surge"), tapediff.Options{}); err == nil || !strings.Contains(err.Error(), "compare A: ") {
		t.Errorf("found error %v, want one that names the tape", err)
	}
}

// Where the numbers of nodes may differ, every node still needs its like.
func TestAnyCountOfNodes(t *testing.T) {
	fewer := func() *timeline.Reader {
		return edited(t, "surge", func(ev timeline.Event) []timeline.Event {
			if strings.HasPrefix(ev.Name, "ip-10-0-2-11") {
				return nil
			}
			return []timeline.Event{ev}
		})
	}
	if report := compare(t, tape(t, "surge"), fewer(), tapediff.Options{AnyCount: true}); !report.Equal() {
		t.Errorf("found %s", report)
	}
	odd := edited(t, "surge", changed(t, "nodes", func(ev timeline.Event, o object) {
		if ev.Name == "ip-10-0-2-11" {
			delete(o.at("spec"), "taints")
		}
	}))
	report := compare(t, fewer(), odd, tapediff.Options{AnyCount: true})
	if got := found(report); !slices.Contains(got, "node new-2: taints NoSchedule") {
		t.Errorf("found %q, want the node without its taint", got)
	}
}
