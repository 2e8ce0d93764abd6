package mask

// passes bounds how many times a text is masked until nothing changes any more. What
// remains after that was made to, and is masked as a whole.
const passes = 4

// String returns s with [Word] in the place of each credential. Masking again
// changes nothing. Where there is none, the result is s itself.
func String(s string) string {
	for range passes {
		m := masker{s: s}
		m.run()
		if m.out == nil {
			return s
		}
		masked := string(append(m.out, s[m.done:]...))
		if masked == s {
			return s
		}
		s = masked
	}
	return Word
}

// masker goes through a text once, from left to right.
type masker struct {
	s    string
	out  []byte // of s[:done]
	done int

	// The text without white space and quotes that a URL is in: where it ends,
	// and the last @ in it. Computed once for each.
	wordEnd, lastAt int

	// What may be userinfo: it begins after a slash or where words do.
	part  int
	colon int // the first one in it, or -1
}

// mask puts Word in the place of s[from:to], or of what is left of it.
func (m *masker) mask(from, to int) {
	if from = max(from, m.done); from >= to {
		return
	}
	m.out = append(append(m.out, m.s[m.done:from]...), Word...)
	m.done = to
}

func (m *masker) run() {
	s := m.s
	m.colon = -1
	for i := 0; i < len(s); i++ {
		if i < m.done {
			if i = m.done; i >= len(s) {
				return
			}
			m.part, m.colon = i, -1
		}
		switch c := s[i]; c {
		case ':':
			if m.colon < 0 {
				m.colon = i
			}
			m.authority(i)
			m.member(i)
		case '@':
			m.userinfo(i)
		case '=':
			m.assigned(i)
		case '-':
			m.block(i)
			m.flag(i)
		case 'L':
			m.encoded(i)
		case '.':
			if bootstrap(s, i) {
				m.mask(i-6, i+17)
			}
		case 'B', 'b':
			m.scheme(i)
		default:
			if c == '/' || separates(c) {
				m.part, m.colon = i+1, -1
			}
		}
		if i < m.done {
			continue
		}
		if to := max(token(s, i), webToken(s, i)); to > i {
			m.mask(i, to)
		}
	}
}
