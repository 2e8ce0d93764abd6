package model

import "time"

// P95 is the duration that 19 of 20 draws stay below.
func (d Dist) P95() time.Duration {
	return time.Duration(d.clip(d.p95()))
}

func (d Dist) p95() int64 {
	width := d.c - d.a
	switch d.shape {
	case uniform:
		return d.b - (d.b-d.a)/20
	case triangular:
		// A twentieth of the triangle is right of it, or all but that left of it.
		if d.c-d.b >= width/20 {
			return d.c - rootOfHalfProduct(width/10, d.c-d.b)
		}
		return d.a + rootOfHalfProduct(width/10*19, d.b-d.a)
	case lognormal:
		return d.c
	}
	return d.a
}
