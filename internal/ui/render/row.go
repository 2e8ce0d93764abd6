package render

import "strings"

// A span is a piece of clean text in one ink.
type span struct {
	ink  ink
	text string
}

// A row is one line before it is painted.
type row []span

func (r row) cells() int {
	n := 0
	for _, s := range r {
		n += cells(s.text)
	}
	return n
}

// spread puts left and right at the two ends of a line. Where they don't fit
// with a space between, right gives way.
func spread(left, right row, width int) row {
	gap := width - left.cells() - right.cells()
	if len(right) == 0 || gap < 1 {
		return left
	}
	out := append(left, span{inkText, strings.Repeat(" ", gap)})
	return append(out, right...)
}

// paint writes a row of at most width cells, cut where it is wider, without
// spaces at its end.
func (t *theme) paint(b *strings.Builder, r row, width int) {
	r = r.trimmed()
	left := width
	for i, s := range r {
		w := cells(s.text)
		last := i == len(r)-1
		if w > left || w == left && !last {
			t.write(b, span{s.ink, cut(s.text+t.marker(w == left), left, t.ellipsis)})
			return
		}
		t.write(b, s)
		left -= w
	}
}

// marker makes a text that fits exactly too long by one, so that cut shows
// that something follows it.
func (t *theme) marker(exact bool) string {
	if exact {
		return " " + t.ellipsis
	}
	return ""
}

func (t *theme) write(b *strings.Builder, s span) {
	if s.text == "" {
		return
	}
	blank := strings.TrimLeft(s.text, " ") == ""
	if blank || t.open[s.ink] == "" {
		b.WriteString(s.text)
		return
	}
	b.WriteString(t.open[s.ink])
	b.WriteString(s.text)
	b.WriteString(t.shut[s.ink])
}

func (r row) trimmed() row {
	for len(r) > 0 {
		last := len(r) - 1
		text := strings.TrimRight(r[last].text, " ")
		if text != "" {
			if text == r[last].text {
				return r
			}
			return append(append(row(nil), r[:last]...), span{r[last].ink, text})
		}
		r = r[:last]
	}
	return r
}

// bar draws part of total in width cells. Something is never nothing, and not
// everything is never full.
func (t *theme) bar(of ink, part, total, width int) row {
	if width <= 0 {
		return nil
	}
	part, total = max(0, part), max(0, total)
	halves := 0
	switch {
	case total == 0 || part == 0:
	case part >= total:
		halves = 2 * width
	default:
		halves = int(float64(part) / float64(total) * float64(2*width))
		halves = min(max(halves, 1), 2*width-1)
	}
	full := strings.Repeat(t.barFull, halves/2)
	if halves%2 == 1 {
		full += t.barHalf
	}
	return row{{of, full}, {inkDim, strings.Repeat(t.barRest, width-(halves+1)/2)}}
}
