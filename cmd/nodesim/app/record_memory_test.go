package app

import "testing"

// TestRecordPercent proves that a recording gathers least garbage while its cluster is small, and doesn't go back and forth.
func TestRecordPercent(t *testing.T) {
	is := recordLeast
	for _, c := range []struct {
		megabytes uint64
		want      int
	}{{1, 15}, {20, 15}, {25, 50}, {200, 50}, {20, 50}, {11, 15}, {20, 15}} {
		if is = recordPercent(c.megabytes<<20, is); is != c.want {
			t.Errorf("%d MB: found %d percent, want %d", c.megabytes, is, c.want)
		}
	}
}
