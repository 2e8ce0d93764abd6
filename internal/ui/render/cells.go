package render

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// cells is the width of a clean text. Terminals disagree about clusters of
// several characters: those that know graphemes draw one picture, others draw
// each character. The larger answer is taken, so that no line is ever wider
// than the terminal; a gap of a cell in rare scripts is the lesser evil.
func cells(s string) int {
	if isASCII(s) {
		return len(s)
	}
	width := 0
	for s != "" {
		var w int
		s, w = nextCluster(s)
		width += w
	}
	return width
}

// nextCluster returns what follows the first grapheme cluster of s, and the
// cells of that cluster.
func nextCluster(s string) (rest string, width int) {
	cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if cluster == "" { // Does not happen; must not loop.
		return "", 0
	}
	return s[len(cluster):], max(w, ansi.StringWidthWc(cluster))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// cut shortens a clean text to at most width cells, ending in the ellipsis
// (itself one cell) where something was cut.
func cut(s string, width int, ellipsis string) string {
	if len(s) <= width || cells(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	return strings.TrimRight(head(s, width-1), " ") + ellipsis
}

// cutMiddle shortens a name and keeps both its ends: the ends tell
// nodes apart, since providers put the address or the pool first and the
// random part after.
func cutMiddle(s string, width int, ellipsis string) string {
	if len(s) <= width || cells(s) <= width {
		return s
	}
	if width < 3 {
		return cut(s, width, ellipsis)
	}
	front := head(s, width/2)
	return front + ellipsis + tail(s, width-1-cells(front))
}

// head is the longest run of whole clusters at the beginning of s that fits.
func head(s string, width int) string {
	rest := s
	for rest != "" {
		next, w := nextCluster(rest)
		if w > width {
			break
		}
		rest, width = next, width-w
	}
	return s[:len(s)-len(rest)]
}

// tail is the longest run of whole clusters at the end of s that fits.
func tail(s string, width int) string {
	for over := cells(s) - width; over > 0 && s != ""; {
		next, w := nextCluster(s)
		s, over = next, over-w
	}
	return s
}

func pad(s string, width int) string {
	if n := width - cells(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}
