package noderoll

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// AppendJSON appends the JSON form of an entry, one line without a line end:
//
//	{"at":"92.412s","kind":"draining","node":"ip-10-0-1-10"}
//
// The fields always come in the order at, kind, node, object, reason, message;
// all but at and kind are left out when empty. at is decimal seconds without
// trailing zeros. What OneLine would replace is escaped here, so that the line
// is safe to print and nothing is lost.
func (e Entry) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"at":"`...)
	dst = AppendSeconds(dst, e.At)
	dst = append(dst, `","kind":`...)
	dst = appendQuoted(dst, string(e.Kind))
	for _, f := range [...]struct{ key, value string }{
		{`,"node":`, e.Node}, {`,"object":`, e.Object}, {`,"reason":`, e.Reason}, {`,"message":`, e.Message},
	} {
		if f.value != "" {
			dst = append(dst, f.key...)
			dst = appendQuoted(dst, f.value)
		}
	}
	return append(dst, '}')
}

// MarshalJSON is AppendJSON. encoding/json escapes <, > and & on top of it.
func (e Entry) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// UnmarshalJSON reads the form that AppendJSON writes. Unknown fields are
// ignored.
func (e *Entry) UnmarshalJSON(data []byte) error {
	var raw struct {
		At                            string
		Kind                          EventKind
		Node, Object, Reason, Message string
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	at, err := parseSeconds(raw.At)
	if err != nil {
		return err
	}
	*e = Entry{At: at, Kind: raw.Kind, Node: raw.Node, Object: raw.Object, Reason: raw.Reason, Message: raw.Message}
	return nil
}

// AppendSeconds appends d as decimal seconds with an "s": "92.412s", "0s".
func AppendSeconds(dst []byte, d time.Duration) []byte {
	sign, ns := "", uint64(d)
	if d < 0 {
		sign, ns = "-", -ns
	}
	dst = append(dst, sign...)
	dst = strconv.AppendUint(dst, ns/1e9, 10)
	if frac := ns % 1e9; frac != 0 {
		dst = append(dst, '.')
		for unit := uint64(1e8); frac > 0; unit /= 10 {
			dst = append(dst, byte('0'+frac/unit))
			frac %= unit
		}
	}
	return append(dst, 's')
}

// parseSeconds is the reverse, exact to the nanosecond.
func parseSeconds(s string) (time.Duration, error) {
	digits, ok := strings.CutSuffix(s, "s")
	digits, negative := strings.CutPrefix(digits, "-")
	whole, frac, dotted := strings.Cut(digits, ".")
	if !ok || whole == "" || dotted && frac == "" || len(frac) > 9 || strings.Trim(whole+frac, "0123456789") != "" {
		return 0, fmt.Errorf(`entry: at %q: want decimal seconds such as "92.412s"`, s)
	}
	sec, err := strconv.ParseUint(whole, 10, 64)
	ns, _ := strconv.ParseUint((frac + "000000000")[:9], 10, 64)
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	if err != nil || sec > limit/1e9 || sec*1e9+ns > limit {
		return 0, fmt.Errorf("entry: at %q: want less than 292 years", s)
	}
	d := time.Duration(sec*1e9 + ns)
	if negative {
		d = -d
	}
	return d, nil
}

const hexDigits = "0123456789abcdef"

func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			dst = append(dst, `\ufffd`...) // a byte that isn't UTF-8
		case r < 0x10000 && unsafeRune(r):
			dst = appendEscape(dst, r)
		case unsafeRune(r):
			r -= 0x10000
			dst = appendEscape(dst, 0xd800+r>>10)
			dst = appendEscape(dst, 0xdc00+r&0x3ff)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
