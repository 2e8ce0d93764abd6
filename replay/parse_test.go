package replay

import (
	"testing"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"20x": "20x", "0.5x": "0.5x", "3": "3x", "1e6": "1000000x", "max": "max",
		"0":    `speed "0": want a factor such as 20x or 0.5x, between 0.001x and 1000000x, or max`,
		"-1x":  `speed "-1x": want a factor such as 20x or 0.5x, between 0.001x and 1000000x, or max`,
		"fast": `speed "fast": want a factor such as 20x or 0.5x, between 0.001x and 1000000x, or max`,
		"NaN":  `speed "NaN": want a factor such as 20x or 0.5x, between 0.001x and 1000000x, or max`,
	} {
		s, err := ParseSpeed(in)
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		equal(t, in, got, want)
	}
	for in, want := range map[string]string{
		"T+2m": "2m0s", "90s": "1m30s", "1m32.4s": "1m32.4s", "end": End.String(),
		"90":  `position "90": has no unit: want 90s for seconds, or such as T+2m, 1m32.4s, end`,
		"-3s": `position "-3s": lies before the tape: want T+0s or later`,
		"x":   `position "x": want a time on the tape such as T+2m, 90s, 1m32.4s, or end`,
	} {
		d, err := ParsePosition(in)
		got := d.String()
		if err != nil {
			got = err.Error()
		}
		equal(t, in, got, want)
	}
}
