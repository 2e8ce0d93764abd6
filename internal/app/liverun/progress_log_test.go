package liverun

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios/live"
)

// progressLines returns what a progressLog says of progresses, a second apart.
func progressLines(all ...live.Progress) (lines []string) {
	var t progressLog
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, p := range all {
		if line := t.line(p, now); line != "" {
			lines = append(lines, line)
		}
		now = now.Add(time.Second)
	}
	return lines
}

func settling(at time.Duration, adopted bool, waiting ...string) live.Progress {
	return live.Progress{Phase: live.Settling, At: at, Adopted: adopted, Waiting: waiting}
}

func TestTold(t *testing.T) {
	for _, c := range []struct {
		name string
		all  []live.Progress
		want []string
	}{
		{
			"a live run from its beginning", []live.Progress{
				{Phase: live.Preparing}, settling(0, false, "node a isn't Ready", "node b isn't Ready"), settling(0, false, "node b isn't Ready"),
				settling(0, false), {Phase: live.Playing}, {Phase: live.Leaving, At: time.Minute}, {Phase: live.Leaving, At: time.Minute},
			},
			[]string{"before it begins: node a isn't Ready, and 1 more", "removing what was made"},
		},
		{
			"one that is resumed: first that, then what is missing", []live.Progress{
				{Phase: live.Preparing}, settling(92*time.Second, true, "pod shop/web-1 isn't known to its kubelet"),
				settling(92*time.Second, true, "pod shop/web-1 isn't known to its kubelet"), settling(92*time.Second, true), {Phase: live.Playing, At: 93 * time.Second, Adopted: true},
			},
			[]string{
				"found an earlier live run, stopped 1m32s into the scenario: resuming it",
				"before it goes on: pod shop/web-1 isn't known to its kubelet",
			},
		},
		{
			"one that hadn't begun", []live.Progress{settling(0, true), settling(0, true, "node a isn't Ready")},
			[]string{"found an earlier live run that hadn't begun: resuming it", "before it begins: node a isn't Ready"},
		},
		{
			"what is waited for is said every five seconds, while it changes", []live.Progress{
				settling(0, false, "a"), settling(0, false, "b"), settling(0, false, "c"), settling(0, false, "d"), settling(0, false, "e"),
				settling(0, false, "f"), settling(0, false, "f"), settling(0, false, "f"), settling(0, false, "f"), settling(0, false, "f"), settling(0, false, "f"),
			},
			[]string{"before it begins: a", "before it begins: f"},
		},
	} {
		if diff := cmp.Diff(c.want, progressLines(c.all...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestWarningsInAPanel(t *testing.T) {
	var w warnings
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	if got := w.lines(now); got != nil {
		t.Errorf("without any: %q", got)
	}
	w.add("patch nodes/a: 503; trying again", now)
	if diff := cmp.Diff([]string{"warning, 12s ago: patch nodes/a: 503; trying again"}, w.lines(now.Add(12*time.Second))); diff != "" {
		t.Errorf("one (-want +got):\n%s", diff)
	}
	w.add("patch nodes/b: 429; trying again", now.Add(time.Minute))
	if diff := cmp.Diff([]string{"2 warnings, the last 0s ago: patch nodes/b: 429; trying again"}, w.lines(now.Add(time.Minute))); diff != "" {
		t.Errorf("two (-want +got):\n%s", diff)
	}
}
