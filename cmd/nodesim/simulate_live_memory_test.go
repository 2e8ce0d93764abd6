package main

import "testing"

func TestGarbagePercent(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 100}, {48 * mb, 100}, {49 * mb, 75}, {64 * mb, 75}, {65 * mb, 50}, {96 * mb, 50}, {97 * mb, 25}, {1 << 60, 25}} {
		if got := garbagePercent(c.live); got != c.want {
			t.Errorf("%d bytes live: found %d percent, want %d", c.live, got, c.want)
		}
	}
}
