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

// Entry is one line of a Feed.
type Entry struct {
	// At is the time since the start of the recording, or of the live watch.
	At   time.Duration
	Kind EventKind
	// Node is the node's name; empty for gap, mark, complete and failed. Of a roll of
	// pods it is the node that the pod of the entry is on, and empty where it is on
	// none yet.
	Node string
	// Object holds what the entry is about besides the node: "Kind/namespace/name"
	// ("Kind/name" where there is no namespace), or the plural of the resource
	// for a gap.
	Object string
	// Reason is a short word for programs, Message a sentence for people. Both
	// are as found in the cluster, and so not to be trusted; the text and JSON
	// forms neutralise them.
	Reason  string
	Message string
}

// TextFormat is the text form of an Entry: columns of time, kind, node and
// details, at least two spaces between them, one line, no line end.
//
//	T+1m32.412s  draining    ip-10-0-1-10
//	T+1m52.500s  blocked     ip-10-0-1-10      PodDisruptionBudget/shop/web  DisruptionBudget  needs 10 healthy pods and has 10; 2 pods wait
//
// An entry without a node has "-" there if details follow. Details are object,
// reason and message, those that there are. Trailing columns that are empty are
// left out, and every string passes through OneLine, so that fields split at
// two spaces are the columns. Its zero value is ready to use.
type TextFormat struct {
	// StampWidth is the least width of the time column; 0 means that of
	// times between one and ten minutes. StampWidth(end) tells what a recording
	// that ends then needs.
	StampWidth int
	// NodeWidth is the least width of the node column; 0 means 16. It only
	// matters to entries with details.
	NodeWidth int
}

const (
	stampWidth = len("T+1m32.412s")
	kindWidth  = len("terminated")
	nodeWidth  = 16
)

// String is the entry in the default TextFormat.
func (e Entry) String() string { return string(TextFormat{}.Append(nil, e)) }

// Append appends the text form of e to dst.
func (f TextFormat) Append(dst []byte, e Entry) []byte {
	if f.StampWidth == 0 {
		f.StampWidth = stampWidth
	}
	if f.NodeWidth == 0 {
		f.NodeWidth = nodeWidth
	}
	start := len(dst)
	dst = AppendStamp(dst, e.At)
	dst = pad(dst, start, f.StampWidth)
	start = len(dst)
	dst = append(dst, OneLine(string(e.Kind))...)
	details := [...]string{OneLine(e.Object), OneLine(e.Reason), OneLine(e.Message)}
	node := OneLine(e.Node)
	detailed := details != [3]string{}
	if node == "" && !detailed {
		return dst
	}
	dst = pad(dst, start, kindWidth)
	start = len(dst)
	if node == "" {
		node = "-"
	}
	dst = append(dst, node...)
	if !detailed {
		return dst
	}
	dst = pad(dst, start, f.NodeWidth)
	first := true
	for _, d := range details {
		if d == "" {
			continue
		}
		if !first {
			dst = append(dst, "  "...)
		}
		dst = append(dst, d...)
		first = false
	}
	return dst
}

// pad fills the column that began at start and sets two spaces after it.
func pad(dst []byte, start, width int) []byte {
	for len(dst)-start < width {
		dst = append(dst, ' ')
	}
	return append(dst, "  "...)
}

// StampWidth is the width of the longest time stamp up to end.
func StampWidth(end time.Duration) int {
	return max(stampWidth, len(AppendStamp(nil, end)))
}

// AppendStamp appends a time as "T+1m32.412s": hours and minutes only where
// they are needed, milliseconds always, cut and not rounded, since an entry must
// not seem later than it is.
func AppendStamp(dst []byte, at time.Duration) []byte {
	dst = append(dst, 'T')
	ms := at.Milliseconds()
	if ms < 0 {
		dst, ms = append(dst, '-'), -ms
	} else {
		dst = append(dst, '+')
	}
	h, m, s := ms/3_600_000, ms/60_000%60, ms/1000%60
	if h > 0 {
		dst = append(strconv.AppendInt(dst, h, 10), 'h')
		dst = append(appendPadded(dst, m, 2), 'm')
		dst = appendPadded(dst, s, 2)
	} else if m > 0 {
		dst = append(strconv.AppendInt(dst, m, 10), 'm')
		dst = appendPadded(dst, s, 2)
	} else {
		dst = strconv.AppendInt(dst, s, 10)
	}
	dst = append(dst, '.')
	return append(appendPadded(dst, ms%1000, 3), 's')
}

func appendPadded(dst []byte, n int64, digits int) []byte {
	for limit := int64(10); digits > 1; digits-- {
		if n < limit {
			for ; digits > 1; digits-- {
				dst = append(dst, '0')
			}
			break
		}
		limit *= 10
	}
	return strconv.AppendInt(dst, n, 10)
}

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
	dst = AppendQuoted(dst, string(e.Kind))
	for _, f := range [...]struct{ key, value string }{
		{`,"node":`, e.Node}, {`,"object":`, e.Object}, {`,"reason":`, e.Reason}, {`,"message":`, e.Message},
	} {
		if f.value != "" {
			dst = append(dst, f.key...)
			dst = AppendQuoted(dst, f.value)
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

// AppendQuoted appends s as a JSON string in which everything that OneLine would replace is escaped: safe to print, and
// nothing lost.
func AppendQuoted(dst []byte, s string) []byte {
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
