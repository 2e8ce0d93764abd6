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
