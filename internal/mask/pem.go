package mask

import "strings"

// block masks the PEM block that begins at s[i] (RFC 7468): up to the line
// that ends it, or all where there is none.
func (m *masker) block(i int) {
	const begin, end, dashes = "-----BEGIN", "-----END", "-----"
	s := m.s
	if !strings.HasPrefix(s[i:], begin) {
		return
	}
	to := len(s)
	if n := strings.Index(s[i:], end); n >= 0 {
		rest := i + n + len(end)
		if n = strings.Index(s[rest:], dashes); n >= 0 {
			to = rest + n + len(dashes)
		}
	}
	m.mask(i, to)
}

// begins are "-----BEGIN" in base64, from the first LS0 on, for each of the
// three ways in which bytes may fall into groups of three.
var begins = []string{"LS0tLS1CRUdJT", "LS0tQkVHSU4", "LS0tLUJFR0lO"}

// encoded masks base64 that holds the beginning of a PEM block around s[i].
func (m *masker) encoded(i int) {
	s := m.s
	for _, b := range begins {
		if !strings.HasPrefix(s[i:], b) {
			continue
		}
		from, to := i, i+len(b)
		for from > m.done && base64Byte(s[from-1]) {
			from--
		}
		for to < len(s) && base64Byte(s[to]) {
			to++
		}
		m.mask(from, to)
		return
	}
}
