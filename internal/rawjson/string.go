package rawjson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s in quotes, spelt canonically.
//
// A JSON decoder and yaml.v3 disagree about some spellings of a string:
// yaml.v3 knows no \/ and no \u surrogate pairs, refuses U+007F and U+FFFE,
// and folds U+0085, U+2028 and U+2029 as line breaks. So those that could be
// misread are written as \u escapes, and everything else as it is, in UTF-8.
// Bytes that aren't UTF-8 become U+FFFD, as they do in encoding/json.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		from := i
		for n := 8; n == 8 && i+8 <= len(s); i += n {
			n = plainOf(eight(s[i:]))
		}
		for i < len(s) && plain[s[i]] {
			i++
		}
		if dst = append(dst, s[from:i]...); i == len(s) {
			break
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		dst = appendRune(dst, r)
		i += n
	}
	return append(dst, '"')
}

// eight returns the first eight bytes of s as one number, the first one lowest.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// plainOf returns the number of plain bytes before the first of eight that isn't.
func plainOf(x uint64) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	quote, slash, del := x^each*'"', x^each*'\\', x^each*0x7f
	// Of the first byte that is 0, or less than n, the subtraction borrows into its
	// high bit.
	odd := x | (x-each*' ')&^x | (quote-each)&^quote | (slash-each)&^slash | (del-each)&^del
	return bits.TrailingZeros64(odd&high) / 8
}

// plain holds the bytes that represent themselves wherever they are.
var plain = func() (t [256]bool) {
	for b := ' '; b < 0x7f; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

func appendRune(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	if escaped(r) {
		return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
	}
	return utf8.AppendRune(dst, r)
}

// escaped reports whether r has to be written as \u and four digits.
func escaped(r rune) bool {
	return r < ' ' || 0x7f <= r && r <= 0x9f || r == 0x2028 || r == 0x2029 ||
		r == 0xfeff || r == 0xfffe || r == 0xffff
}

// str copies the string that starts at i, rewriting what isn't canonical.
func (c *compactor) str(i int) (int, error) {
	for i++; ; {
		for n := 8; n == 8 && i+8 <= len(c.src); i += n {
			n = plainOf(binary.LittleEndian.Uint64(c.src[i:]))
		}
		for i < len(c.src) && plain[c.src[i]] {
			i++
		}
		if i >= len(c.src) {
			return i, c.fault(i, "the closing quote of a string")
		}
		switch b := c.src[i]; {
		case b == '"':
			return i + 1, nil
		case b == '\\':
			c.odd = true
			r, n := c.escape(i)
			if n == 0 {
				return i, c.fault(i+1, "an escape that JSON knows")
			}
			c.rewrite(i, n, r)
			i += n
		case b < ' ':
			return i, c.fault(i, "an escape instead of a control character")
		default:
			c.odd = true
			r, n := utf8.DecodeRune(c.src[i:])
			if r == utf8.RuneError && n == 1 || escaped(r) {
				c.rewrite(i, n, r)
			}
			i += n
		}
	}
}

// rewrite puts r in the place of the n bytes at i.
func (c *compactor) rewrite(i, n int, r rune) {
	c.flush(i)
	c.dst = appendRune(c.dst, r)
	c.start = i + n
}

// escape decodes the escape at i; n is 0 where there is none. A surrogate
// without its other half is U+FFFD, as in encoding/json.
func (c *compactor) escape(i int) (r rune, n int) {
	if i+1 >= len(c.src) {
		return 0, 0
	}
	switch b := c.src[i+1]; b {
	case '"', '\\', '/':
		return rune(b), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, ok := c.hex4(i + 2)
		if !ok {
			return 0, 0
		}
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if i+7 < len(c.src) && c.src[i+6] == '\\' && c.src[i+7] == 'u' {
			if low, ok := c.hex4(i + 8); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return pair, 12
				}
			}
		}
		return utf8.RuneError, 6
	}
	return 0, 0
}

func (c *compactor) hex4(i int) (r rune, ok bool) {
	if i+4 > len(c.src) {
		return 0, false
	}
	for _, b := range c.src[i : i+4] {
		switch {
		case '0' <= b && b <= '9':
			b -= '0'
		case 'a' <= b && b <= 'f':
			b -= 'a' - 10
		case 'A' <= b && b <= 'F':
			b -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(b)
	}
	return r, true
}

// Unquote returns the text of the JSON string raw, which Compact has
// returned; ok is false where raw is no string. Without escapes it copies once.
func Unquote(raw []byte) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	body := raw[1 : len(raw)-1]
	i := 0
	for i < len(body) && body[i] != '\\' {
		i++
	}
	if i == len(body) {
		return string(body), true
	}
	c := compactor{src: body}
	out := append(make([]byte, 0, len(body)), body[:i]...)
	for i < len(body) {
		if body[i] != '\\' {
			out = append(out, body[i])
			i++
			continue
		}
		r, n := c.escape(i)
		if n == 0 {
			return "", false
		}
		out = utf8.AppendRune(out, r)
		i += n
	}
	return string(out), true
}
