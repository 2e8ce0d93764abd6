package render

import (
	"strings"
	"unicode/utf8"
)

const escape = 0x1b

// sequence returns the length of the whole terminal control sequence that s
// begins with, or 0 where it begins with none or with an unfinished one. The
// grammar is that of ECMA-48 (5.3 to 5.6) and ECMA-35 (13.2, sequences with
// intermediate bytes, such as the choice of a character set).
func (c *cleaner) sequence(s string) int {
	kind, n := introducer(s)
	switch kind {
	case 0:
		return 0
	case '[': // CSI: parameters, intermediates, final byte
		n = span7(s, n, 0x30, 0x3f)
		n = span7(s, n, 0x20, 0x2f)
		return final(s, n, 0x40)
	case ']', 'P', 'X', '^', '_': // OSC, DCS, SOS, PM, APC: up to ST, or BEL as xterm has it
		if c.open {
			return 0
		}
		end := stringEnd(s, n)
		c.open = end == 0
		return end
	}
	if kind >= 0x20 && kind <= 0x2f {
		return final(s, span7(s, n, 0x20, 0x2f), 0x30)
	}
	return n
}

// introducer returns the second byte of the seven-bit form of the sequence that
// s begins with, and where what follows it starts.
func introducer(s string) (kind byte, n int) {
	if s == "" {
		return 0, 0
	}
	if s[0] == escape {
		if len(s) > 1 && s[1] >= 0x20 && s[1] <= 0x7e {
			return s[1], 2
		}
		return 0, 0
	}
	r, size := utf8.DecodeRuneInString(s)
	if size == 2 && r >= 0x80 && r <= 0x9f && r != '\u0085' { // next line is white space
		return byte(r - 0x40), size
	}
	return 0, 0
}

// span7 returns where the run of bytes from lo to hi that starts at n ends.
func span7(s string, n int, lo, hi byte) int {
	for n < len(s) && s[n] >= lo && s[n] <= hi {
		n++
	}
	return n
}

// final returns the end of a sequence whose final byte is at n, or 0.
func final(s string, n int, lowest byte) int {
	if n < len(s) && s[n] >= lowest && s[n] <= 0x7e {
		return n + 1
	}
	return 0
}

func stringEnd(s string, from int) int {
	for i, r := range s[from:] {
		switch {
		case r == '\a':
			return from + i + 1
		case r == '\u009c':
			return from + i + len("\u009c")
		case r == escape && strings.HasPrefix(s[from+i+1:], `\`):
			return from + i + 2
		}
	}
	return 0
}
