package model

import (
	"testing"
	"time"
)

// The 95th percentile is where the draws have it.
func TestP95IsThatOfTheDraws(t *testing.T) {
	const sec = time.Second
	for _, d := range []Dist{
		Fixed(time.Minute), Uniform(15*sec, time.Minute), Triangular(sec, 4*sec, 6*sec), Triangular(0, 0, 10*sec), Triangular(0, 10*sec, 10*sec),
		Triangular(0, 99*sec, 100*sec), Lognormal(38*sec, 65*sec), Lognormal(45*sec, 240*sec).Scaled(50), Lognormal(38*sec, 65*sec).Clip(sec, 50*sec),
	} {
		if got, drawn := d.P95(), sorted(d, 1)[draws*95/100]; !near(got, drawn, 20) {
			t.Errorf("%s: 95th percentile %s, and %s of the draws", d, got, drawn)
		}
	}
}
