package diff

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// Threshold is by how much a roll may be longer in B than in A: a time, or a part of what A took.
type Threshold struct {
	Time    time.Duration
	Percent float64 // where Time is 0
	text    string
}

// ParseThreshold reads 90s, 2m30s or 10%.
func ParseThreshold(text string) (Threshold, error) {
	bad := fmt.Errorf("%.80q: want a time such as 90s, or a part such as 10%%, and not less than nothing", text)
	if number, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !(percent >= 0 && percent <= 1e6) {
			return Threshold{}, bad
		}
		return Threshold{Percent: percent, text: text}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return Threshold{}, bad
	}
	return Threshold{Time: d, text: text}, nil
}

// String is the threshold as it was read.
func (t Threshold) String() string { return t.text }

// Fails is the error of a comparison whose rolls are worse in B by more than a threshold, or of which A has no roll to compare.
func (d *Diff) Fails(t Threshold) error {
	switch above := d.Above(t); {
	case len(above) > 0:
		return above[0].worse(t)
	case d.A.Rolls == 0 && d.B.Rolls == 0:
		return errors.New("nothing was compared: neither tape has a roll: want rolls in both")
	case d.A.Rolls == 0:
		return errors.New("nothing was compared: A has no roll: want rolls in both")
	}
	return nil
}

// worse says how a row of a roll is worse in B.
func (r Row) worse(t Threshold) error {
	switch {
	case r.B == nil:
		return fmt.Errorf("roll of %s: it was %s in A and isn't in B: want it there as well", r.Object, r.A)
	case r.Measure == "outcome":
		return fmt.Errorf("roll of %s: it is %s in A and %s in B: want it as in A", r.Object, r.A, r.B)
	}
	return fmt.Errorf("roll of %s: %s was %s in A and is %s in B: want at most %s more", r.Object, r.Measure, r.A, r.B, t)
}

// Above are the rows of the rolls that are worse in B by more than a threshold: longer, not complete where A's is, or not
// there.
func (d *Diff) Above(t Threshold) []Row {
	var all []Row
	for _, r := range d.Rows {
		switch {
		case r.Scope != ScopeRoll || r.A == nil:
		case r.Measure == "outcome" && r.A.Word == string(analysis.Complete):
			all = append(all, r)
		case r.Measure == "outcome" && r.B == nil:
			all = append(all, r)
		case r.Measure == "duration" && r.B != nil:
			most := t.Time
			if t.Percent > 0 {
				most = time.Duration(float64(r.A.Duration) * t.Percent / 100)
			}
			if r.B.Duration-r.A.Duration > most {
				all = append(all, r)
			}
		}
	}
	return all
}
