package picture

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A piece is text of one style that is drawn at once.
type piece struct {
	text       string
	col, width int // cells
	style
}

// style holds what SGR sequences have asked for.
type style struct {
	fill        string // #rrggbb; empty for the window's own
	bold, faint bool
}

// piecesOf takes a terminal's text apart: lines of pieces, without the spaces
// between them. Of escape sequences and control characters only SGR and line
// feeds mean something, and a style holds until it is changed. What would reach
// beyond the columns is left out.
func piecesOf(text string, columns int) (lines [][]piece) {
	var (
		line  []piece
		col   int
		s     style
		state byte
	)
	for len(text) > 0 {
		// Without its Parser, which has room for 32 parameters and panics beyond.
		seq, width, n, next := ansi.DecodeSequence(text, state, nil)
		text, state = text[n:], next
		switch {
		case seq == "\n":
			lines, line, col = append(lines, line), nil, 0
		case width > 0:
			if seq != " " && col+width <= columns {
				line = add(line, piece{seq, col, width, s})
			}
			col += width
		case strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m"):
			s = s.after(seq[2 : len(seq)-1])
		}
	}
	return append(lines, line)
}

// add joins a character to the piece before it where both are drawn at once.
func add(line []piece, p piece) []piece {
	if len(line) > 0 && line[len(line)-1].takes(p) {
		last := &line[len(line)-1]
		last.text += p.text
		last.width += p.width
		return line
	}
	return append(line, p)
}

// takes reports whether next continues with the piece: ASCII makes words,
// and a bar is drawn as one so that it has no seams.
func (p piece) takes(next piece) bool {
	if p.col+p.width != next.col || p.style != next.style {
		return false
	}
	_, isBar := bars[p.first()]
	return p.ascii() && next.ascii() || isBar && p.first() == next.first()
}

func (p piece) first() rune {
	r, _ := utf8.DecodeRuneInString(p.text)
	return r
}

// ascii looks at both ends: a letter may have a mark after it.
func (p piece) ascii() bool {
	return p.text[0] < utf8.RuneSelf && p.text[len(p.text)-1] < utf8.RuneSelf
}

// after is the style after an SGR sequence with these parameters (ECMA-48,
// 8.3.117; colours as xterm has them, with semicolons). One that is not made of
// numbers changes nothing.
func (s style) after(params string) style {
	var codes []uint8
	for field := range strings.SplitSeq(params, ";") {
		code, err := strconv.ParseUint("0"+field, 10, 8)
		if err != nil {
			return s
		}
		codes = append(codes, uint8(code))
	}
	for i := 0; i < len(codes); i++ {
		switch code, rest := codes[i], codes[i+1:]; {
		case code == 0:
			s = style{}
		case code == 1:
			s.bold = true
		case code == 2:
			s.faint = true
		case code == 22:
			s.bold, s.faint = false, false
		case code >= 30 && code <= 37:
			s.fill = hex(ansi.BasicColor(code - 30))
		case code >= 90 && code <= 97:
			s.fill = hex(ansi.BasicColor(code - 90 + 8))
		case code == 39:
			s.fill = ""
		case code == 38 || code == 48 || code == 58: // text, ground, underline
			fill, n := extended(rest)
			if code == 38 && n > 0 {
				s.fill = fill
			}
			i += n
		}
	}
	return s
}

// extended reads a colour of 256, or one of red, green and blue, and says how
// many codes it has taken.
func extended(codes []uint8) (fill string, n int) {
	switch {
	case len(codes) >= 2 && codes[0] == 5:
		return hex(ansi.IndexedColor(codes[1])), 2
	case len(codes) >= 4 && codes[0] == 2:
		return hex(color.RGBA{codes[1], codes[2], codes[3], 255}), 4
	}
	return "", 0
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
