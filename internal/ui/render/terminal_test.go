package render

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// terminal understands what a Screen writes, and fails on anything else.
type terminal struct {
	width    int
	lines    [][]rune
	row, col int
}

func newTerminal(width, height int) *terminal {
	return &terminal{width: width, lines: make([][]rune, height)}
}

// feed interprets the bytes and returns what is shown then, without the empty
// lines below.
func (v *terminal) feed(t *testing.T, s string) string {
	t.Helper()
	var state byte
	for len(s) > 0 {
		seq, width, n, next := ansi.DecodeSequence(s, state, nil)
		s, state = s[n:], next
		switch {
		case width > 0:
			v.print(t, []rune(seq))
		case seq == "\r":
			v.col = 0
		case seq == "\n":
			v.row++
		case seq == "\x1b[H":
			v.row, v.col = 0, 0
		case seq == "\x1b[K":
			v.lines[v.row] = v.upTo(v.col)
		case seq == "\x1b[J":
			v.lines[v.row] = v.upTo(v.col)
			clear(v.lines[v.row+1:])
		case strings.HasPrefix(seq, "\x1b[?"): // modes move nothing
		case strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "A"):
			up := 0
			if seq == "\x1b[A" {
				up = 1
			}
			for _, digit := range seq[2 : len(seq)-1] {
				up = up*10 + int(digit-'0')
			}
			if v.row -= up; v.row < 0 {
				t.Fatalf("the cursor left the screen: %q", seq)
			}
		default:
			t.Fatalf("unexpected sequence %q", seq)
		}
	}
	var out []string
	for _, line := range v.lines {
		out = append(out, string(line))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

func (v *terminal) print(t *testing.T, glyph []rune) {
	t.Helper()
	line := v.upTo(v.col)
	if len(v.lines[v.row]) > v.col+len(glyph) {
		line = append(line, append(glyph, v.lines[v.row][v.col+len(glyph):]...)...)
	} else {
		line = append(line, glyph...)
	}
	v.lines[v.row] = line
	if v.col += len(glyph); v.col > v.width {
		t.Fatalf("a line is wider than the terminal: %q", string(line))
	}
}

func (v *terminal) upTo(col int) []rune {
	line := append([]rune(nil), v.lines[v.row][:min(col, len(v.lines[v.row]))]...)
	for len(line) < col {
		line = append(line, ' ')
	}
	return line
}
