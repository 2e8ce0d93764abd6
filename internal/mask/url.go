package mask

import "strings"

// authority masks the userinfo of the URL whose :// begins at s[i] (RFC 3986,
// section 3.2.1). A password in which / or # isn't escaped makes no URL, but
// people write it: where what is in the port's place isn't a number, all
// up to the last @ of the word is userinfo.
func (m *masker) authority(i int) {
	s := m.s
	if !strings.HasPrefix(s[i:], "://") {
		return
	}
	from := i + 3
	to, at, colon := from, -1, -1
	for to < len(s) && !strings.ContainsRune(" \t\r\n/?#\"<>`\\", rune(s[to])) {
		switch s[to] {
		case '@':
			if !digest(s[to+1:]) {
				at = to
			}
		case ':':
			colon = to
		}
		to++
	}
	if at >= 0 && to < len(s) && strings.IndexByte("/?#", s[to]) >= 0 && strings.IndexByte(s[from:at], ':') >= 0 {
		at = max(at, m.lastOf(to)) // of a password that has both @ and /
	}
	if at < 0 && colon >= 0 && to < len(s) && strings.IndexByte("/?#", s[to]) >= 0 && !number(s[colon+1:to]) && s[from] != '[' {
		at = m.lastOf(to)
	}
	if at > from {
		m.mask(from, at)
	}
}

// lastOf returns the last @ of the word around s[i] after it, or -1.
func (m *masker) lastOf(i int) int {
	if i >= m.wordEnd {
		m.wordEnd, m.lastAt = i, -1
		for ; m.wordEnd < len(m.s) && !separates(m.s[m.wordEnd]); m.wordEnd++ {
			if m.s[m.wordEnd] == '@' && !digest(m.s[m.wordEnd+1:]) {
				m.lastAt = m.wordEnd
			}
		}
	}
	if m.lastAt < i {
		return -1
	}
	return m.lastAt
}

// userinfo masks user:password before the @ at s[i], where no scheme is said.
func (m *masker) userinfo(i int) {
	s := m.s
	if next := at(s, i+1); !alnum(next) && next != '[' || digest(s[i+1:]) {
		return
	}
	if m.colon <= m.part || m.colon+1 == i || s[m.part:m.colon] == "mailto" {
		return
	}
	m.mask(m.part, i)
}

// separates reports whether words end at c.
func separates(c byte) bool {
	return c <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' || c == '>' || c == '\\'
}

func number(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
