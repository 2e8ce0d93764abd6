package picture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/testing/picture"
)

// One of everything that is drawn, in every style that counts.
func TestStyles(t *testing.T) {
	text := "plain \x1b[1mbold\x1b[22m \x1b[2mfaint\x1b[m\n" +
		"\x1b[31mred\x1b[91mbright\x1b[39m \x1b[38;5;71m71\x1b[0m \x1b[38;2;56;168;189mtrue\n" +
		"held over the line\x1b[0m \x1b[48;5;1mno ground\x1b[0m\n" +
		"● ○ ◐ ▲ ▸ ✗ …\n" +
		"━━╸──── a<b&c>\"d\""
	golden.Assert(t, "styles", picture.SVG(text, picture.Window{Title: "<styles>", Columns: 24}))
}

// drawn is where a viewer puts the text of a picture's lines, as lines again.
// What is drawn as a shape is left as spaces.
func drawn(t *testing.T, svg []byte, columns int) string {
	t.Helper()
	lines := map[int][]rune{}
	row, col, inWord, last := 0, 0, false, 0
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			at := map[string]int{}
			for _, a := range token.Attr {
				at[a.Name.Local], _ = strconv.Atoi(a.Value)
			}
			switch token.Name.Local {
			case "text":
				row = (at["y"] - 36) / 20
			case "tspan":
				inWord, col = true, (at["x"]-16)/9
				if end := col + at["textLength"]/9; col < 0 || end > columns {
					t.Errorf("line %d: text from column %d to %d, want it within %d", row, col, end, columns)
				}
			case "svg", "title", "rect", "circle", "path":
			default:
				t.Errorf("element %s, want none that is not drawn here", token.Name.Local)
			}
		case xml.EndElement:
			inWord = inWord && token.Name.Local != "tspan"
		case xml.CharData:
			if inWord {
				for _, r := range string(token) {
					for len(lines[row]) <= col {
						lines[row] = append(lines[row], ' ')
					}
					lines[row][col], col, last = r, col+1, max(last, row)
				}
			}
		}
	}
	all := make([]string, last+1)
	for i := range all {
		all[i] = string(lines[i])
	}
	return strings.Join(all, "\n")
}

// Every word of a panel is in the picture where it is on a terminal.
func TestWordsKeepTheirPlaces(t *testing.T) {
	panel := panelOfREADME(t)
	shapes := strings.NewReplacer("─", " ", "━", " ", "╸", " ", "●", " ", "○", " ", "◐", " ", "▲", " ", "▸", " ")
	var want []string
	for line := range strings.Lines(shapes.Replace(ansi.Strip(panel))) {
		want = append(want, strings.TrimRight(line, " \n"))
	}
	got := strings.Split(drawn(t, picture.SVG(panel, picture.Window{Columns: columns}), columns), "\n")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the picture's text is not the panel's (-panel +picture)\n%s", d)
	}
}

// Whatever the text and the title hold, the picture is XML, and stays within
// its window.
func FuzzSVG(f *testing.F) {
	for _, text := range []string{
		"",
		"]]><script>alert(1)</script>&amp;<!--",
		strings.Repeat("wide ", 400) + strings.Repeat("━", 400) + strings.Repeat("語", 400),
		"語語語語語語語語語語語語x",
		"\x00\x01\x08\x7f\ufffe\uffff\xff\xfe\xed\xa0\x80",
		"e\u0301 \u0301\u0301 👩‍👩‍👧‍👦 #️⃣ \u202eevil\u202c ─\u0301",
		"\x1b[38m \x1b[38;2m \x1b[38;5m \x1b[38;2;1m \x1b[38:2::1:2:3ma\x1b[38;1mb\x1b[38;5;999mc\x1b[38;2;999;-1;7md",
		"\x1b[99999999999999999999m\x1b[;;;;m\x1b[1;2;3" + strings.Repeat(";4", 100) + "mx",
		"\x1b]0;title<\x07a\x1b]8;;http://x\x1b\\b\x1b[2Jc\x1b[10;10Hd\x1bPq<\n>",
		"\x1b[31", "a\rb\tc\vd\fe", "\x9b31mx\u009b31my",
	} {
		f.Add(text, text, 20)
	}
	f.Add("x", "━", -1)
	f.Add("x", strings.Repeat("wide", 400), math.MaxInt)
	f.Fuzz(func(t *testing.T, title, text string, columns int) {
		w := picture.Window{Title: title, Columns: columns}
		svg := picture.SVG(text, w)
		drawn(t, svg, min(max(columns, 1), 1000))
		if !bytes.Equal(svg, picture.SVG(text, w)) {
			t.Error("the same text gave other bytes")
		}
	})
}
