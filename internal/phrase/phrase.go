// Package phrase has words for people: small things in one format everywhere, a
// count, a number of bytes, a text from somewhere else that has to be safe on one
// line; and what a mistyped word was meant to be, with bounded work however long the
// word is.
package phrase

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Count is a number of things: "1 event", "3 events".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Bytes is a number of bytes, in steps of a thousand: "1.3 MB".
func Bytes(n int64) string {
	const kilo = 1000
	switch {
	case n < kilo:
		return fmt.Sprintf("%d B", n)
	case n < kilo*kilo:
		return fmt.Sprintf("%.1f kB", float64(n)/kilo)
	case n < kilo*kilo*kilo:
		return fmt.Sprintf("%.1f MB", float64(n)/(kilo*kilo))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(kilo*kilo*kilo))
}

// Longest is the number of characters of a text Escaped shows: what was found in a
// hostile file may be megabytes long.
const Longest = 500

// Escaped makes one line of what may hold anything, of at most Longest characters:
// what can't be printed, control characters and bidirectional overrides
// included, is escaped.
func Escaped(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > Longest {
			b.WriteString("…")
			break
		}
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}
