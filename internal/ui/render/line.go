package render

import "strings"

// Line draws a line that is below a panel and isn't about the roll: cleaned
// as everything is, at most Width cells, and with the panel's margin.
func Line(text string, o Options) string {
	o = o.bounded()
	if o.Width == 0 {
		return ""
	}
	p := newPainter(&Frame{}, o)
	var b strings.Builder
	b.WriteString(p.margin)
	p.theme.paint(&b, row{{inkText, p.clean(text)}}, p.width)
	return b.String()
}

// Tail is as much of the end of a text as so many cells hold, after an ellipsis where that isn't all.
func Tail(text string, width int) string {
	if cells(text) <= width {
		return text
	}
	return "…" + tail(text, max(width-1, 0))
}

// Folded is a line as it is where it fits into a terminal of so many cells, and else as [Wrap] divides it.
func Folded(line string, width, most int) []string {
	if cells(Clean(line)) <= width-2 {
		return []string{line}
	}
	return Wrap(line, width, most)
}

// Wrap divides a text into lines for Line, at its spaces, on a terminal of so many cells: at most so many lines, whose last
// one has all that is left.
func Wrap(text string, width, most int) []string {
	width = max(min(width, largestSide)-2, 1) // the margins
	words := strings.Fields(Clean(text))
	var lines []string
	for len(words) > 0 {
		if first := head(words[0], width); first != "" && first != words[0] && len(lines) < most-1 { // a path, which is nowhere else
			lines, words[0] = append(lines, first), words[0][len(first):]
			continue
		}
		if len(lines) == most-1 {
			return append(lines, strings.Join(words, " "))
		}
		n, used := 1, cells(words[0])
		for n < len(words) && used+1+cells(words[n]) <= width {
			used += 1 + cells(words[n])
			n++
		}
		if n < len(words) && cells(words[n]) > width { // it is divided anyway
			if first := head(words[n], width-used-1); first != "" {
				lines = append(lines, strings.Join(words[:n], " ")+" "+first)
				words = words[n:]
				words[0] = words[0][len(first):]
				continue
			}
		}
		lines = append(lines, strings.Join(words[:n], " "))
		words = words[n:]
	}
	return lines
}
