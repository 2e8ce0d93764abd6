package store

import (
	"slices"
	"time"
)

// Keep bounds what stays in a store. Zero values bound nothing.
type Keep struct {
	// Age is how long after its roll a tape stays.
	Age time.Duration
	// Size is how many bytes of tapes stay, the youngest of them.
	Size int64
	// Last is how many of the youngest tapes of each group of a cluster stay, whatever the other bounds say.
	Last int
}

// Surplus returns which of the tapes, ordered as List has them, have to go at a time, oldest first.
func (k Keep) Surplus(tapes []Tape, now time.Time) (surplus []Tape) {
	type group struct{ cluster, name string }
	younger := map[group]int{}
	size, full := int64(0), false
	for i := len(tapes) - 1; i >= 0; i-- {
		t := tapes[i]
		g := group{t.Cluster, t.Group}
		younger[g]++
		size += t.Bytes
		switch {
		case younger[g] <= k.Last:
		case k.Age > 0 && now.Sub(t.Ended) > k.Age:
			surplus, size = append(surplus, t), size-t.Bytes
		case k.Size > 0 && (full || size > k.Size):
			surplus, size, full = append(surplus, t), size-t.Bytes, true
		}
	}
	slices.Reverse(surplus)
	return surplus
}
