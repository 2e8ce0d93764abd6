package conformance

import (
	"strconv"
	"strings"
	"time"
)

// slack is what two clocks may differ by: a Date header has whole seconds.
const slack = 2 * time.Second

// sameAge reports whether two ages, as duration.HumanDuration of k8s.io/apimachinery writes them, are of the same
// moment, where the first was computed so much later.
func sameAge(want, got string, late time.Duration) bool {
	w, wUnit, ok := parseAge(want)
	if !ok {
		return false
	}
	g, gUnit, ok := parseAge(got)
	if !ok {
		return false
	}
	// Each stands for what it is cut off from: [w, w+unit).
	g += late
	return w < g+gUnit+slack && g < w+wUnit+slack
}

// parseAge reads "2m30s": the least age that is written so, and its smallest unit.
func parseAge(s string) (least, unit time.Duration, ok bool) {
	for s != "" {
		i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if i <= 0 {
			return 0, 0, false
		}
		n, err := strconv.Atoi(s[:i])
		if err != nil {
			return 0, 0, false
		}
		switch s[i] {
		case 's':
			unit = time.Second
		case 'm':
			unit = time.Minute
		case 'h':
			unit = time.Hour
		case 'd':
			unit = 24 * time.Hour
		case 'y':
			unit = 365 * 24 * time.Hour
		default:
			return 0, 0, false
		}
		least += time.Duration(n) * unit
		s = s[i+1:]
	}
	return least, unit, unit > 0
}
