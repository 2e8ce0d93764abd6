package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// Window holds what a picture puts around a text.
type Window struct {
	Title   string // in the bar at its top
	Columns int    // cells a line, from 1 to 1000
}

// Pixels. A cell is 0.6 of the font's size wide, as most fonts for terminals
// have it, and whole: then every place is a whole number.
const (
	fontSize   = 15
	cellWidth  = 9
	lineHeight = 20
	baseline   = 15 // below the top of a line
	padding    = 16
	barHeight  = 36
)

// maxColumns is the most that a panel has.
const maxColumns = 1000

const fonts = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"

// A bar is a line through the middle of cells.
type bar struct{ thick, cut int }

var bars = map[rune]bar{
	'─': {thick: 2},
	'━': {thick: 4},
	'╸': {thick: 4, cut: cellWidth / 2}, // the left half alone
}

// marks are drawn as paths in a cell, from its top left corner.
var marks = map[string]string{
	"●": "M.5 10a4 4 0 1 1 8 0a4 4 0 1 1-8 0z",
	"○": "M.5 10a4 4 0 1 1 8 0a4 4 0 1 1-8 0zM1.9 10a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0-5.2 0z",
	"◐": "M.5 10a4 4 0 1 1 8 0a4 4 0 1 1-8 0zM4.5 7.4v5.2a2.6 2.6 0 1 0 0-5.2z",
	"▲": "M4.5 5.5l4.5 8.5h-9z",
	"▸": "M1.5 5.5l6.5 4.5l-6.5 4.5z",
}

// SVG draws a text with the colours of a terminal in a dark window, as high as
// the text has lines. It is safe for concurrent use.
func SVG(text string, w Window) []byte {
	columns := min(max(w.Columns, 1), maxColumns)
	lines := piecesOf(text, columns)
	width, height := columns*cellWidth+2*padding, barHeight+len(lines)*lineHeight+padding
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" font-family="%s" font-size="%d" fill="#d5dbe3">`+"\n",
		width, height, fonts, fontSize)
	fmt.Fprintf(&b, "<title>%s</title>\n", escaped(w.Title))
	fmt.Fprintf(&b, `<rect x=".5" y=".5" width="%d" height="%d" rx="9.5" fill="#14181f" stroke="#363d48"/>`+"\n", width-1, height-1)
	for i, fill := range []string{"#e0605c", "#d29f3f", "#4fb06d"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="5.5" fill="%s"/>`+"\n", padding+cellWidth+5+i*18, barHeight/2, fill)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="13" text-anchor="middle" fill="#8b94a1">%s</text>`+"\n", width/2, barHeight/2+4, escaped(w.Title))
	for i, line := range lines {
		drawLine(&b, line, barHeight+i*lineHeight)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// drawLine draws shapes, then what is text in one element, so that a line can
// be selected and searched in a viewer that allows it.
func drawLine(b *bytes.Buffer, line []piece, top int) {
	var words bytes.Buffer
	for _, p := range line {
		x := padding + p.col*cellWidth
		bar, isBar := bars[p.first()]
		switch {
		case isBar:
			fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d"%s/>`+"\n", x, top+(lineHeight-bar.thick)/2, p.width*cellWidth-bar.cut, bar.thick, p.attributes())
		case marks[p.text] != "":
			fmt.Fprintf(b, `<path transform="translate(%d %d)" d="%s"%s/>`+"\n", x, top, marks[p.text], p.attributes())
		case p.ascii():
			fmt.Fprintf(&words, `<tspan x="%d" textLength="%d" lengthAdjust="spacingAndGlyphs"%s>%s</tspan>`, x, p.width*cellWidth, p.attributes(), escaped(p.text))
		default: // of unknown width: in the middle of its cells
			fmt.Fprintf(&words, `<tspan x="%d" text-anchor="middle"%s>%s</tspan>`, x+p.width*cellWidth/2, p.attributes(), escaped(p.text))
		}
	}
	if words.Len() > 0 {
		fmt.Fprintf(b, `<text y="%d">%s</text>`+"\n", top+baseline, words.Bytes())
	}
}

func (s style) attributes() string {
	var b strings.Builder
	if s.fill != "" {
		fmt.Fprintf(&b, ` fill="%s"`, s.fill)
	}
	if s.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if s.faint {
		b.WriteString(` fill-opacity=".6"`)
	}
	return b.String()
}

// escaped is text for XML; what XML has no character for becomes U+FFFD.
func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}
