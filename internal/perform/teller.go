package perform

import (
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/live"
)

// waitingEvery is how often it is said what is waited for, while that changes.
const waitingEvery = 5 * time.Second

// A teller says how a performance goes, up to its beginning and at its end: what
// comes in between is shown. It is for one goroutine.
type teller struct {
	found, left bool // it was said that something is gone on with; that it is over
	waiting     string
	waitingAt   time.Time
}

// line is what is to be said of a progress, or "".
func (t *teller) line(p live.Progress, now time.Time) string {
	switch {
	case p.Phase == live.Leaving && !t.left:
		t.left = true
		return "removing what was made"
	case p.Phase != live.Settling:
		return ""
	case p.Adopted && !t.found:
		t.found = true
		if p.At == 0 {
			return "found an earlier performance that hadn't begun: going on with it"
		}
		return fmt.Sprintf("found an earlier performance, stopped at T+%s: going on with it", p.At.Round(time.Second))
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
