package invariant_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// The API server was away for the disruption controller too, which watches again later than the recorder: what it owes
// is asked for a minute after the gap, and not before.
func TestControllersAfterGap(t *testing.T) {
	for until, want := range map[time.Duration][]string{60 * second: nil, 90 * second: {"budget-counts"}} {
		p := open(t, "surge")
		p.insert(timeline.Event{At: 15 * second, Type: timeline.Gap, Resource: pods})
		p.insert(timeline.Event{At: 15 * second, Type: timeline.Sync, Resource: pods})
		p.each(pods, "web-64cf8d68d9-zp88h", 16*second, set("False", "status", "conditions", "Ready", "status"))
		p.goOn(until)
		if found := p.check(); !slices.Equal(brokenBy(found), want) {
			t.Errorf("a tape that ends at %s: found %v, want %v", until, found, want)
		}
	}
}
