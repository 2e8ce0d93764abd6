package noderoll

import (
	"strconv"
	"time"
)

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
