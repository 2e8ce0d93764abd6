package mask

// Scan looks for the end of a JSON string in canonical form. i is the offset
// after the opening quote; end is that of the closing quote, or len(b) where
// there is none. Where suspect is false, [String] changes nothing of the text.
func Scan(b []byte, i int) (end int, suspect bool) {
	for ; i < len(b); i++ {
		switch c := b[i]; anchors[c] {
		case plain:
		case quote:
			return i, suspect
		case escape:
			suspect = true // seldom, and escapes hide what is before a token
			i++
		default:
			if !suspect {
				suspect = hint(b, i, c)
			}
		}
	}
	return len(b), suspect
}

const (
	plain = iota
	quote
	escape
	anchor
)

// anchors holds the bytes that Scan looks at: of each shape one that is seldom
// in names, times, quantities and digests.
var anchors = func() (t [256]uint8) {
	t['"'], t['\\'] = quote, escape
	for _, c := range []byte("@=:-~._BCIJKLObklxy") {
		t[c] = anchor
	}
	return t
}()

// hint reports whether a credential may be around b[i], which is c. It may be
// wrong in one direction only: a shape that String knows is never missed.
func hint(b []byte, i int, c byte) bool {
	prev, next := at(b, i-1), at(b, i+1)
	switch c {
	case '@':
		return !digest(b[i+1:])
	case '=', '~':
		return true
	case ':': // password:, PASSWD: and 'token':, with a space before the colon or without
		return prev|' ' == 'd' || prev == '\'' || prev == ' '
	case '-': // flags and PEM blocks
		return prev == '-'
	case '.':
		return bootstrap(b, i) || prev == 'G' && at(b, i-2) == 'S' || at(b, i-2) == 'v' && at(b, i-3) == 'h'
	case '_': // not the kernel's x86_64
		return prev > '9' || prev == '1'
	case 'B', 'b':
		return next == 'e' && at(b, i+2) == 'a' || next == 'a' && at(b, i+2) == 's'
	case 'C':
		return prev == 'A' && next == 'C'
	case 'I':
		return next == 'A' || prev == 'A' && next == 'z'
	case 'J':
		return prev == 'y'
	case 'K':
		return prev == '-' && next == 'E'
	case 'L':
		return next == 'S' && at(b, i+2) == '0'
	case 'O':
		return prev == 'G' && next == 'C'
	case 'k':
		return prev == 's' && next == '-' && !alnum(at(b, i-2)) ||
			prev == 's' && next == 'e' || next == '.' && at(b, i+2) == 'c'
	case 'l':
		return prev == 'g' && !alnum(at(b, i-2))
	case 'x':
		return next == 'o' && at(b, i+2) == 'x' || next == 'a' && at(b, i+2) == 'p'
	case 'y':
		return next == 'a' && at(b, i+2) == '2' || next == 'p' && at(b, i+2) == 'i'
	}
	return true
}

// at returns b[i], or 0 outside of b.
func at[T ~string | ~[]byte](b T, i int) byte {
	if i < 0 || i >= len(b) {
		return 0
	}
	return b[i]
}

func alnum(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|' ' && c|' ' <= 'z' }

// lowerAlnum is the alphabet of bootstrap tokens.
func lowerAlnum(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' }

// digest reports whether a text that follows an @ is an image's digest, and
// so no host: algorithm, colon, hex digits (opencontainers/image-spec,
// descriptor.md).
func digest[T ~string | ~[]byte](s T) bool {
	const sha = "sha256:"
	from := len(sha)
	if len(s) < from || string(s[:from]) != sha {
		from = 0
		for from < len(s) && from < 32 && (lowerAlnum(s[from]) || s[from] == '+' || s[from] == '.' || s[from] == '_' || s[from] == '-') {
			from++
		}
		if from == 0 || at(s, from) != ':' {
			return false
		}
		from++
	}
	for i := range 32 {
		if c := at(s, from+i); !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return true
}

// bootstrap reports whether the point at s[i] is that of a bootstrap token:
// [a-z0-9]{6}.[a-z0-9]{16} (k8s.io/cluster-bootstrap, token/api). A host name
// may look so as well; it seldom has a digit in a label of exactly 16.
func bootstrap[T ~string | ~[]byte](s T, i int) bool {
	if i < 6 || i+16 >= len(s) || !tokenEnd(s, i+17) || joined(at(s, i-7)) {
		return false
	}
	digit := false
	for _, c := range []byte(s[i+1 : i+17]) {
		if !lowerAlnum(c) {
			return false
		}
		digit = digit || c <= '9'
	}
	for _, c := range []byte(s[i-6 : i]) {
		if !lowerAlnum(c) {
			return false
		}
	}
	return digit
}

// joined reports whether a byte beside a token makes it a part of something
// longer.
func joined(c byte) bool { return alnum(c) || c == '-' || c == '.' || c == '_' }

// tokenEnd reports whether a token may end before s[i]. A full stop there may
// end a sentence.
func tokenEnd[T ~string | ~[]byte](s T, i int) bool {
	if at(s, i) == '.' {
		return !joined(at(s, i+1))
	}
	return !joined(at(s, i))
}
