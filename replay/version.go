package replay

import (
	"cmp"
	"strings"
)

// Resource versions are decimal integers of any length, kept as text: a
// recorded one must come out as it went in, and clients may compare them
// (KEP-5504, "comparable resource version").

// origin is the version of a resource before its first event: older than
// anything that etcd gives to an object.
const origin = "1"

// parseVersion returns the canonical form of a version; ok is false for
// anything but decimal digits with a value above zero.
func parseVersion(s string) (v string, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return "", false
		}
	}
	v = strings.TrimLeft(s, "0")
	return v, v != ""
}

// compareVersions compares canonical versions as integers.
func compareVersions(a, b string) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return strings.Compare(a, b)
}

// addVersions adds canonical versions; "" counts as zero.
func addVersions(a, b string) string {
	if len(a) < len(b) {
		a, b = b, a
	}
	if b == "" {
		return a
	}
	sum := make([]byte, len(a)+1)
	var carry byte
	for i := range len(a) {
		d := a[len(a)-1-i] - '0' + carry
		if i < len(b) {
			d += b[len(b)-1-i] - '0'
		}
		carry = d / 10
		sum[len(a)-i] = '0' + d%10
	}
	if carry == 0 {
		return string(sum[1:])
	}
	sum[0] = '1'
	return string(sum)
}

// before returns v-1, for a v above zero.
func before(v string) string {
	d := []byte(v)
	for i := len(d) - 1; i >= 0; i-- {
		if d[i] > '0' {
			d[i]--
			break
		}
		d[i] = '9'
	}
	return strings.TrimLeft(string(d), "0")
}

// baseAbove returns the base that follows base, where top is the highest
// version handed out: a round number above top with more zeros than a recorded
// version has had digits, so that the recorded one stays readable after it.
// 512 on a tape that ends at 98143 becomes 100512, then 200512.
func baseAbove(top, base string) string {
	zeros := len(top)
	if base != "" {
		round := len(base) - len(strings.TrimRight(base, "0"))
		zeros = max(round, len(subVersions(top, base)))
	}
	head := ""
	if len(top) > zeros {
		head = top[:len(top)-zeros]
	}
	return addVersions(head, "1") + strings.Repeat("0", zeros)
}

// subVersions returns a-b for canonical versions with a above b.
func subVersions(a, b string) string {
	d := []byte(a)
	for i, j := len(d)-1, len(b)-1; j >= 0; i, j = i-1, j-1 {
		if d[i] < b[j] {
			d[i] += 10
			for k := i - 1; k >= 0; k-- { // borrow
				if d[k] > '0' {
					d[k]--
					break
				}
				d[k] = '9'
			}
		}
		d[i] -= b[j] - '0'
	}
	return strings.TrimLeft(string(d), "0")
}
