package conformance

import (
	"strconv"
	"strings"
	"time"
)

// slack is the difference that two clocks may have: a Date header has whole seconds.
const slack = 2 * time.Second

// sameAge reports whether two ages, as duration.HumanDuration of k8s.io/apimachinery writes them, are of the same
// moment, where the first was computed so much later. took is how long the answers took besides.
func sameAge(want, got string, late, took time.Duration) bool {
	w, wUnit, ok := parseAge(want)
	if !ok {
		return false
	}
	g, gUnit, ok := parseAge(got)
	if !ok {
		return false
	}
	// Each represents what it is cut off from: [w, w+unit).
	g += late
	return w < g+gUnit+slack+took && g < w+wUnit+slack+took
}

// parseAge reads "2m30s": the least age that is written so, and how much older the next one is.
func parseAge(s string) (least, step time.Duration, ok bool) {
	for s != "" {
		i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if i <= 0 {
			return 0, 0, false
		}
		n, err := strconv.Atoi(s[:i])
		unit := units[s[i]]
		if err != nil || unit == 0 {
			return 0, 0, false
		}
		least += time.Duration(n) * unit
		s, ok = s[i+1:], true
	}
	switch {
	case least < 10*time.Minute:
		step = time.Second
	case least < 8*time.Hour:
		step = time.Minute
	case least < 8*day:
		step = time.Hour
	case least < 8*year:
		step = day
	default:
		step = year
	}
	return least, step, ok
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

var units = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': day, 'y': year}
