package mask

import "strings"

// names are the ends of the names, in small letters and without - and _, whose
// values are credentials.
var names = []string{
	"password", "passwd", "pwd", "passphrase", "dbpass", "secret", "token", "apikey", "accesskey", "accesskeyid", "secretkey",
	"privatekey", "accountkey", "authkey", "masterkey", "signature", "sig", "credential", "credentials", "auth",
}

const longestName = 48

// secret reports whether the name that ends before s[i] is one of a credential.
func secret(s string, i int) bool {
	var folded [longestName]byte
	n := len(folded)
	for i--; i >= 0 && n > 0; i-- {
		c := s[i]
		if c == '-' || c == '_' {
			continue
		}
		if !alnum(c) {
			break
		}
		if n--; 'A' <= c && c <= 'Z' {
			c |= ' '
		}
		folded[n] = c
	}
	for _, name := range names {
		if strings.HasSuffix(string(folded[n:]), name) {
			return true
		}
	}
	return false
}

// value returns what follows a name: what is in quotes, or all up to where words end.
func (m *masker) value(i int) (from, to int) {
	s := m.s
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		return i + 1, closing(s, i+1, s[i:i+1])
	}
	if strings.HasPrefix(s[i:], `\"`) {
		return i + 2, closing(s, i+2, `\"`)
	}
	to = i
	for to < len(s) && !separates(s[to]) && strings.IndexByte("&;,)}]", s[to]) < 0 {
		to++
	}
	return i, to
}

// assigned masks what follows name= and name = .
func (m *masker) assigned(i int) {
	from := i + 1
	if at(m.s, i-1) == ' ' {
		i--
		if at(m.s, from) == ' ' {
			from++
		}
	}
	if secret(m.s, i) {
		m.mask(m.value(from))
	}
}

// closing returns the offset of the quote that closes what begins at s[i].
func closing(s string, i int, quote string) int {
	for ; i < len(s); i++ {
		if strings.HasPrefix(s[i:], quote) {
			return i
		}
		if len(quote) == 1 && s[i] == '\\' {
			i++
		}
	}
	return len(s)
}

// member masks the value of a member of JSON in a text, "password":"…" with
// its quotes escaped or not, of Python's '…', and password: … as YAML and people write it.
func (m *masker) member(i int) {
	s := m.s
	from := i + 1
	for from < len(s) && s[from] == ' ' && from < i+4 {
		from++
	}
	if at(s, i-1) == ' ' { // some programs write "name" : "value"
		i--
	}
	if quote := at(s, i-1); quote == '"' || quote == '\'' {
		name := i - 1
		for name > 0 && s[name-1] == '\\' {
			name--
		}
		escapes := s[name : i-1]
		end := escapes + string(quote)
		if strings.HasPrefix(s[from:], end) && secret(s, name) {
			m.mask(from+len(end), closing(s, from+len(end), end))
		}
		return
	}
	if at(s, i-1)|' ' == 'd' && secret(s, i) {
		m.mask(m.value(from))
	}
}

// flag masks the value of --password and its like, where it follows a space.
func (m *masker) flag(i int) {
	s := m.s
	if !strings.HasPrefix(s[i:], "--") || at(s, i-1) == '-' {
		return
	}
	to := i + 2
	for to < len(s) && to < i+2+longestName && wordByte(s[to]) {
		to++
	}
	if at(s, to) == ' ' && at(s, to+1) != '-' && secret(s, to) {
		m.mask(m.value(to + 1))
	}
}

// scheme masks the credentials of Authorization: Bearer and Basic (RFC 6750,
// RFC 7617). "Bearer token" and "Basic authentication" are words.
func (m *masker) scheme(i int) {
	s := m.s
	if alnum(at(s, i-1)) {
		return
	}
	from := 0
	for _, name := range []string{"Bearer ", "bearer ", "Basic ", "basic "} {
		if strings.HasPrefix(s[i:], name) {
			from = i + len(name)
		}
	}
	if from == 0 {
		return
	}
	to, odd := from, false
	for to < len(s) && (base64Byte(s[to]) || s[to] == '.' || s[to] == '~') {
		odd = odd || s[to] <= '9' && s[to] >= '0' || s[to] == '='
		to++
	}
	if n := to - from; n >= 24 || n >= 8 && odd || n > 0 && authorizes(s, i) {
		m.mask(from, to)
	}
}

// authorizes reports whether what ends before s[i] is the name of the header Authorization.
func authorizes(s string, i int) bool {
	const name = "authorization"
	for first := max(i-8, 0); i > first && strings.IndexByte(" \t\"'\\:[", s[i-1]) >= 0; {
		i--
	}
	return i >= len(name) && strings.EqualFold(s[i-len(name):i], name)
}
