package trigger

import (
	"encoding/json"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// MarkCut is the name of the MARK by which a recording says that the tape of a roll ends there. It is for the recording alone, and on
// no tape of a roll.
const MarkCut = "nodesim.dev/cut"

// cut is what such a MARK says: the tape ended, and the one that continues it.
type cut struct {
	Group   string  `json:"group"`
	Trigger Trigger `json:"trigger"`
	Part    int     `json:"part"` // the next
	GoesOn  bool    `json:"goesOn"`
	// Since is when the first part began.
	Since time.Time `json:"since"`
	Found bool      `json:"found,omitempty"`
}

// Cut returns the name and the reason of a MARK that ends the tape of a roll which is on, once it is among the lines that Apply
// takes. The next tape continues the roll where something of it has happened lately; else it begins when something does.
func (d *Decider) Cut(now time.Time, r Roll) (name, reason string) {
	text, _ := json.Marshal(cut{Group: r.Group, Trigger: r.Trigger, Part: r.Part + 1, GoesOn: now.Sub(r.Last) < d.options.Quiet, Since: r.Since, Found: r.Found}) // of strings
	return MarkCut, string(text)
}

// mark takes such a MARK. Others mean nothing here.
func (d *Decider) mark(at time.Time, ev timeline.Event) {
	var c cut
	if ev.Name != MarkCut || json.Unmarshal([]byte(ev.Reason), &c) != nil || c.Part < 2 {
		return
	}
	last := at
	if r := d.open[c.Group]; r != nil {
		last = r.Last
		d.end(r, at, Unfinished)
	}
	if c.Since.IsZero() { // of an earlier version
		c.Since = at
	}
	if c.GoesOn {
		d.enter(&Roll{Group: c.Group, Trigger: c.Trigger, Part: c.Part, Began: at, Since: c.Since, Last: last, Found: c.Found})
	}
}
