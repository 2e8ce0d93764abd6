package liverun

import (
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/live"
)

// waitingEvery is the interval at which it is said what is waited for, while that changes.
const waitingEvery = 5 * time.Second

// A progressLog says how a live run goes, up to its beginning and at its end: what
// comes in between is shown. It is for one goroutine.
type progressLog struct {
	found, left bool // it was said that something is resumed; that it is over
	waiting     string
	waitingAt   time.Time
}

// line returns what is to be said of a progress, or "".
func (t *progressLog) line(p live.Progress, now time.Time) string {
	switch {
	case p.Phase == live.Leaving && !t.left:
		t.left = true
		return "removing what was made"
	case p.Phase == live.Preparing && len(p.Waiting) > 0 && p.Waiting[0] != t.waiting:
		t.waiting = p.Waiting[0]
		return t.waiting
	case p.Phase != live.Settling:
		return ""
	case p.Adopted && !t.found:
		t.found = true
		if p.At == 0 {
			return "found an earlier live run that hadn't begun: resuming it"
		}
		return fmt.Sprintf("found an earlier live run, stopped %s into the scenario: resuming it", p.At.Round(time.Second))
	case len(p.Waiting) == 0:
		return ""
	}
	line := "before it begins: "
	if p.At > 0 {
		line = "before it goes on: "
	}
	line += p.Waiting[0]
	if n := len(p.Waiting) - 1; n > 0 {
		line += fmt.Sprintf(", and %d more", n)
	}
	if line == t.waiting || !t.waitingAt.IsZero() && now.Sub(t.waitingAt) < waitingEvery {
		return ""
	}
	t.waiting, t.waitingAt = line, now
	return line
}
