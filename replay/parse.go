package replay

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Speed is the number of seconds of tape that pass in a second of the player's clock.
type Speed float64

// Max doesn't wait at all.
const Max Speed = math.MaxFloat64

// String returns the form that ParseSpeed reads.
func (s Speed) String() string {
	if s.max() {
		return "max"
	}
	return strconv.FormatFloat(float64(s), 'f', -1, 64) + "x"
}

func (s Speed) max() bool { return s >= Max }

// ParseSpeed reads "20x", "0.5x", "20" or "max".
func ParseSpeed(s string) (Speed, error) {
	if s == "max" {
		return Max, nil
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "x"), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || !Speed(f).valid() {
		return 0, fmt.Errorf("speed %q: want a factor such as 20x or 0.5x, between %s and %s, or max", s, Speed(slowest), Speed(fastest))
	}
	return Speed(f), nil
}

// The limits keep the time until the next event within a time.Duration.
const slowest, fastest = 0.001, 1e6

func (s Speed) valid() bool { return s.max() || s >= slowest && s <= fastest }

// End is a position after every event.
const End = time.Duration(math.MaxInt64)

// ParsePosition reads a position on the tape: "T+2m", "90s", "1m32.4s" or "end".
func ParsePosition(s string) (time.Duration, error) {
	if s == "end" {
		return End, nil
	}
	d, err := time.ParseDuration(strings.TrimPrefix(s, "T+"))
	switch {
	case err == nil && d >= 0:
		return d, nil
	case err == nil:
		return 0, fmt.Errorf("position %q: lies before the tape: want T+0s or later", s)
	}
	if _, err := strconv.ParseFloat(strings.TrimPrefix(s, "T+"), 64); err == nil {
		return 0, fmt.Errorf("position %q: has no unit: want %ss for seconds, or such as T+2m, 1m32.4s, end", s, s)
	}
	return 0, fmt.Errorf("position %q: want a time on the tape such as T+2m, 90s, 1m32.4s, or end", s)
}
