package model

import (
	"fmt"
	"time"
)

// String is for people and tables: "fixed(1m0s)", "uniform(15s, 1m0s)", "triangular(1s, 4s, 6s)",
// "lognormal(38s, 1m5s)", each followed by " clip(0s, 15m0s)" where it is clipped.
func (d Dist) String() string {
	var text string
	switch d.shape {
	case uniform:
		text = fmt.Sprintf("uniform(%s, %s)", time.Duration(d.a), time.Duration(d.b))
	case triangular:
		text = fmt.Sprintf("triangular(%s, %s, %s)", time.Duration(d.a), time.Duration(d.b), time.Duration(d.c))
	case lognormal:
		text = fmt.Sprintf("lognormal(%s, %s)", time.Duration(d.a), time.Duration(d.c))
	default:
		text = fmt.Sprintf("fixed(%s)", time.Duration(d.a))
	}
	if d.clipped {
		text += fmt.Sprintf(" clip(%s, %s)", time.Duration(d.lo), time.Duration(d.hi))
	}
	return text
}
