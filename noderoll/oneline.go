package noderoll

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes a string from a cluster safe to print: one line without control
// characters, escape sequences or anything that turns the direction of writing.
// Runs of white space, line ends among them, become one space, and leading and
// trailing ones are dropped; what could act on a terminal becomes U+FFFD, as do
// bytes that are not UTF-8. A string that needs no change is returned as it is.
func OneLine(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		if unsafeRune(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plain reports whether s is printable ASCII with single inner spaces.
func plain(s string) bool {
	space := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return s == "" || !space
}

// unsafeRune reports whether a rune may act on a terminal instead of being
// shown: C0 and C1 controls, and all of category Cf (among them the marks,
// embeddings, overrides and isolates of UAX #9, the byte order mark, zero width
// characters and tags) but the joiner and non-joiner that some scripts need.
func unsafeRune(r rune) bool {
	switch {
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return true
	case r < 0xa0:
		return false
	case r == '\u200c' || r == '\u200d':
		return false
	case r == '\u2028' || r == '\u2029':
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// Brief is OneLine, cut to at most max runes; what was cut is shown by an
// ellipsis as the last rune. A rune is never cut in two. max below 1 gives "".
func Brief(s string, max int) string {
	if max < 1 {
		return ""
	}
	s = OneLine(s)
	if len(s) <= max {
		return s
	}
	cut, runes := 0, 0
	for i := range s {
		if runes++; runes == max {
			cut = i
		} else if runes > max {
			return s[:cut] + "…"
		}
	}
	return s
}
