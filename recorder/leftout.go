package recorder

import "fmt"

// leftOut tells what of each resource is not on the tape.
func leftOut(resources []ResourceStats) (lines []string) {
	for _, r := range resources {
		for _, c := range []struct {
			n   int
			one string
			all string
		}{
			{r.OutOfScope, "event out of scope", "events out of scope"},
			{r.Repeats, "event repeated: its version had been seen", "events repeated: their versions had been seen"},
			{r.TooLarge, "state of an object too large for a tape", "states of objects too large for a tape"},
			{r.Unknown, "deletion of an object that never appeared", "deletions of objects that never appeared"},
		} {
			what := c.all
			if c.n == 1 {
				what = c.one
			}
			if c.n > 0 {
				lines = append(lines, fmt.Sprintf("%s: %d %s", r.Resource, c.n, what))
			}
		}
	}
	return lines
}
