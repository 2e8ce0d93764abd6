package render

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
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
	inkCount
)

// The colours are of middle brightness, to be read on a dark ground and on a
// light one; terminals with sixteen colours use their own.
var palette = map[ink]struct{ ansi, ansi256, trueColor string }{
	inkReady:   {"2", "71", "#4fb06d"},
	inkJoining: {"6", "73", "#38a8bd"},
	inkDrain:   {"3", "179", "#d29f3f"},
	inkAlarm:   {"1", "167", "#e0605c"},
}

// A theme is how inks and glyphs look in one place.
type theme struct {
	open, shut [inkCount]string
	glyphs
}

type glyphs struct {
	ready, joining, draining, notReady, other string
	warn, done, failed, live, play, pause     string
	arrow, ellipsis                           string
	barFull, barHalf, barRest                 string
}

var unicodeGlyphs = glyphs{
	ready: "●", joining: "○", draining: "◐", notReady: "✗", other: "·",
	warn: "▲", done: "✓", failed: "✗", live: "●", play: "▸", pause: "‖",
	arrow: "→", ellipsis: "…",
	barFull: "━", barHalf: "╸", barRest: "─",
}

var asciiGlyphs = glyphs{
	ready: "*", joining: "+", draining: "-", notReady: "!", other: ".",
	warn: "!", done: "*", failed: "!", live: "*", play: ">", pause: "=",
	arrow: "->", ellipsis: "~",
	barFull: "=", barHalf: "-", barRest: ".",
}

func newTheme(o Options) theme {
	t := theme{glyphs: unicodeGlyphs}
	if o.ASCII {
		t.glyphs = asciiGlyphs
	}
	if o.Profile < colorprofile.ASCII {
		return t
	}
	for i := range inkCount {
		// lipgloss styles whole texts; what it puts around one is all that is
		// needed here, and taken once for a panel in place of once for a word.
		t.open[i], t.shut[i], _ = strings.Cut(style(i, o.Profile).Render("x"), "x")
	}
	return t
}

func style(i ink, profile colorprofile.Profile) lipgloss.Style {
	s := lipgloss.NewStyle()
	switch i {
	case inkStrong:
		return s.Bold(true)
	case inkDim:
		return s.Faint(true)
	}
	if c, ok := palette[i]; ok && profile > colorprofile.ASCII {
		choose := lipgloss.Complete(profile)
		return s.Foreground(choose(lipgloss.Color(c.ansi), lipgloss.Color(c.ansi256), lipgloss.Color(c.trueColor)))
	}
	return s
}
