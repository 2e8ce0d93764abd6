package render

import (
	"github.com/charmbracelet/x/ansi"
)

// An ink is a role that a piece of text plays; a theme knows how it looks.
type ink uint8

const (
	inkText    ink = iota
	inkStrong      // what the eye should find first
	inkDim         // secondary text and everything that is at rest
	inkReady       // green
	inkJoining     // cyan
	inkDrain       // yellow
	inkAlarm       // red
	inkCursor      // what marks the selected row, left of it
	inkCount
)

// The colours are of middle brightness, to be read on a dark ground and on a
// light one; terminals with sixteen colours use their own.
var palette = map[ink]struct {
	ansi      ansi.BasicColor
	ansi256   ansi.IndexedColor
	trueColor ansi.RGBColor
}{
	inkReady:   {ansi.Green, 71, ansi.RGBColor{R: 0x4f, G: 0xb0, B: 0x6d}},
	inkJoining: {ansi.Cyan, 73, ansi.RGBColor{R: 0x38, G: 0xa8, B: 0xbd}},
	inkDrain:   {ansi.Yellow, 179, ansi.RGBColor{R: 0xd2, G: 0x9f, B: 0x3f}},
	inkAlarm:   {ansi.Red, 167, ansi.RGBColor{R: 0xe0, G: 0x60, B: 0x5c}},
}

// A theme maps inks and glyphs to their look in one place.
type theme struct {
	open, shut [inkCount]string
	glyphs
}

type glyphs struct {
	ready, joining, draining, notReady, other string
	warn, done, failed, live, play, pause     string
	arrow, ellipsis, cursor                   string
	barFull, barHalf, barRest                 string
}

var unicodeGlyphs = glyphs{
	ready: "●", joining: "○", draining: "◐", notReady: "✗", other: "·",
	warn: "▲", done: "✓", failed: "✗", live: "●", play: "▸", pause: "‖",
	arrow: "→", ellipsis: "…", cursor: "▸",
	barFull: "━", barHalf: "╸", barRest: "─",
}

var asciiGlyphs = glyphs{
	ready: "*", joining: "+", draining: "-", notReady: "!", other: ".",
	warn: "!", done: "*", failed: "!", live: "*", play: ">", pause: "=",
	arrow: "->", ellipsis: "~", cursor: ">",
	barFull: "=", barHalf: "-", barRest: ".",
}

func newTheme(o Options) theme {
	t := theme{glyphs: unicodeGlyphs}
	if o.ASCII {
		t.glyphs = asciiGlyphs
	}
	if o.Profile < ASCII {
		return t
	}
	for i := range inkCount {
		if s := style(i, o.Profile); len(s) > 0 {
			t.open[i], t.shut[i] = s.String(), ansi.ResetStyle
		}
	}
	return t
}

// style is what an ink puts before a text in a terminal of this profile; it is empty for plain text.
func style(i ink, profile Profile) ansi.Style {
	var s ansi.Style
	switch i {
	case inkStrong, inkCursor:
		return s.Bold()
	case inkDim:
		return s.Faint()
	}
	c, ok := palette[i]
	switch {
	case !ok:
		return s
	case profile == ANSI:
		return s.ForegroundColor(c.ansi)
	case profile == ANSI256:
		return s.ForegroundColor(c.ansi256)
	case profile > ANSI256:
		return s.ForegroundColor(c.trueColor)
	}
	return s
}
