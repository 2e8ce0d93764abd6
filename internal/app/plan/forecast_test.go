package plan_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// mostMissed is how many of n durations may lie outside of where nine of ten lie: a tenth of a hundred and more. Of fewer it is what chance
// leaves outside in all but one of a thousand searches: two of six are no sign that a forecast errs.
func mostMissed(n int) int {
	if n >= 100 {
		return n / 10
	}
	more, is := 1.0, math.Pow(0.9, float64(n)) // the chance of more than k, and of k
	for k := 0; ; k++ {
		if more -= is; more < 0.001 {
			return k
		}
		is *= float64(n-k) / float64(k+1) * 0.1 / 0.9
	}
}

// verdict is what is wrong with forecasts of durations: of timed rolls some took between P5 and P95, and of others nobody knows, since
// the machine may have delayed them. Of those that are clear nine of ten have to be within, and of many no more than half may be unclear.
func verdict(timed, within, unclear int) error {
	known := timed - unclear
	if missed, most := known-within, mostMissed(known); missed > most {
		return fmt.Errorf("%d of %d durations that are clear lie outside of P5 to P95, want at most %d", missed, known, most)
	}
	if timed >= 20 && unclear > timed/2 {
		return fmt.Errorf("%d of %d durations are unclear, want at most %d: the machine is too busy", unclear, timed, timed/2)
	}
	return nil
}

// judged says of how many durations the verdict is.
func judged(timed, within, unclear int) string {
	if timed == unclear {
		return fmt.Sprintf("NO DURATION WAS JUDGED: of %d rolls that ended all are unclear, since this machine may have delayed them", timed)
	}
	return fmt.Sprintf("of %d rolls that ended %d took between P5 and P95, %d no longer beyond it than this machine may have delayed them", timed, within, unclear)
}

// Rolls that are unclear excuse none of the others, and of 20 or more at most half may be. Where all of a few are, the log says so.
func TestVerdictOnForecasts(t *testing.T) {
	for _, c := range []struct {
		timed, within, unclear int
		good                   bool
	}{
		{200, 180, 0, true},
		{200, 179, 0, false},
		{200, 90, 100, true},
		{200, 89, 100, false},
		{200, 99, 101, false},
		{200, 0, 200, false},
		{200, 0, 181, false},
		{4, 1, 0, true},
		{4, 0, 0, false},
		{4, 0, 4, true}, // too few to tell
		{7, 4, 1, true},
		{10, 5, 0, true},
		{10, 4, 0, false},
		{20, 13, 0, true},
		{20, 12, 0, false},
		{0, 0, 0, true},
	} {
		if err := verdict(c.timed, c.within, c.unclear); (err == nil) != c.good {
			t.Errorf("%d of %d within, %d unclear: %v, want %t", c.within, c.timed, c.unclear, err, c.good)
		}
		if none := strings.HasPrefix(judged(c.timed, c.within, c.unclear), "NO DURATION WAS JUDGED"); none != (c.timed == c.unclear) {
			t.Errorf("of %d timed, %d unclear: it says that none was judged: %t", c.timed, c.unclear, none)
		}
	}
}
