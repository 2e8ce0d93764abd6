package timeline

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// FormatAt writes a position on the tape as decimal seconds: "12.412907s".
// It is exact, and the shortest that is.
func FormatAt(d time.Duration) string { return string(appendAt(nil, d)) }

func appendAt(dst []byte, d time.Duration) []byte {
	if d < 0 {
		dst, d = append(dst, '-'), -d
	}
	dst = strconv.AppendInt(dst, int64(d/time.Second), 10)
	if frac := int64(d % time.Second); frac != 0 {
		digits := strconv.AppendInt(make([]byte, 0, 10), frac+int64(time.Second), 10)
		digits[0] = '.'
		n := len(digits)
		for digits[n-1] == '0' {
			n--
		}
		dst = append(dst, digits[:n]...)
	}
	return append(dst, 's')
}

// ParseAt reads a position on the tape: decimal seconds with an s, up to nine
// digits after the point, nothing negative.
func ParseAt(s string) (time.Duration, error) {
	bad := func() (time.Duration, error) {
		return 0, fmt.Errorf(`at %q: want decimal seconds such as "12.5s"`, s)
	}
	num, ok := strings.CutSuffix(s, "s")
	whole, frac, point := strings.Cut(num, ".")
	if !ok || whole == "" || len(whole) > 10 || point && (frac == "" || len(frac) > 9) {
		return bad()
	}
	var n int64
	for _, c := range []byte(whole) {
		if c < '0' || c > '9' {
			return bad()
		}
		n = n*10 + int64(c-'0')
	}
	if n > math.MaxInt64/int64(time.Second)-1 {
		return bad()
	}
	for i := range 9 {
		n *= 10
		if i < len(frac) {
			if frac[i] < '0' || frac[i] > '9' {
				return bad()
			}
			n += int64(frac[i] - '0')
		}
	}
	return time.Duration(n), nil
}
