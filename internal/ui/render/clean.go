package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// cleanOutput is the longest text, in bytes: far more than a line can show.
	cleanOutput = 4096
	// cleanInput is the number of bytes looked at, a bound on what a hostile
	// message can cost. It is larger, since much of one may be dropped.
	cleanInput = 4 * cleanOutput
	// marksPerLetter are the combining marks that a letter may carry. Two is
	// what living orthographies need (Vietnamese, polytonic Greek); a pile of
	// them paints over the lines above and below.
	marksPerLetter = 2
)

// Clean makes one line of visible text out of anything: the one gate between a
// cluster's names and messages and the terminal.
//
//   - Whole escape sequences (CSI, OSC, DCS, SOS, PM, APC, two-byte ones), in
//     their seven-bit and eight-bit forms, are dropped. Of an incomplete one
//     the introducer goes and the rest stays, as the plain text that it then
//     is: an open sequence can't swallow what follows.
//   - Control characters, format characters (bidirectional marks, embeddings,
//     overrides and isolates, zero-width characters, soft hyphens, tags),
//     variation selectors and other invisible characters are dropped.
//   - White space of any kind, line and paragraph separators included,
//     collapses to single spaces; none is left at the ends.
//   - A letter keeps two combining marks; enclosing marks and marks without a
//     letter are dropped.
//   - Invalid UTF-8, private and unassigned characters become U+FFFD.
//
// The result is at most 4 KiB long, and only the first 16 KiB are read; an
// ellipsis marks a cut there. Cleaning twice changes nothing more.
func Clean(s string) string {
	if isPlain(s) {
		return s
	}
	text, whole := clip(s, cleanInput)
	c := cleaner{}
	c.out.Grow(min(len(text), cleanOutput))
	for len(text) > 0 {
		if c.out.Len() > cleanOutput-16 { // room for one more letter, its marks and the ellipsis
			whole = false
			break
		}
		if n := c.sequence(text); n > 0 {
			text = text[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		c.add(r, size)
		text = text[size:]
	}
	if !whole {
		c.out.WriteString("…")
	}
	return c.out.String()
}

// isPlain reports whether s is printable ASCII in single-spaced words, as
// nearly every name and message is.
func isPlain(s string) bool {
	if len(s) > cleanOutput-16 {
		return false
	}
	space := true // none at the beginning
	for i := range len(s) {
		switch {
		case s[i] == ' ':
			if space {
				return false
			}
			space = true
		case s[i] < ' ' || s[i] > '~':
			return false
		default:
			space = false
		}
	}
	return s == "" || !space
}

// clip returns the first n bytes of s, less a rune that would be cut.
func clip(s string, n int) (text string, whole bool) {
	if len(s) <= n {
		return s, true
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n], false
}

type cleaner struct {
	out   strings.Builder
	space bool // white space waits for something to follow
	marks int  // room for marks on what was written last
	open  bool // no control string ends from here on
}

func (c *cleaner) add(r rune, size int) {
	switch {
	case unicode.IsSpace(r): // U+0085, U+2028 and U+2029 included
		c.space, c.marks = c.out.Len() > 0, 0
	case r == utf8.RuneError && size <= 1:
		c.write(utf8.RuneError)
	case isInvisible(r):
	case unicode.Is(unicode.M, r):
		if c.marks > 0 && !unicode.Is(unicode.Me, r) {
			c.out.WriteRune(r)
			c.marks--
		}
	case !unicode.IsPrint(r):
		c.write(utf8.RuneError)
	default:
		c.write(r)
	}
}

func (c *cleaner) write(r rune) {
	if c.space {
		c.out.WriteByte(' ')
		c.space = false
	}
	c.out.WriteRune(r)
	c.marks = marksPerLetter
}

// isInvisible holds for what has no picture of its own but may change the
// pictures around it, or the terminal.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) ||
		r == '\u2800' || // a Braille cell without dots
		r >= 0x1F3FB && r <= 0x1F3FF // skin tones, which some terminals draw apart and some don't
}

// toASCII replaces each character beyond ASCII of a clean text by a question
// mark, and marks by nothing.
func toASCII(s string) string {
	if isPlain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r <= '~':
			return r
		case unicode.Is(unicode.M, r):
			return -1
		}
		return '?'
	}, s)
}
