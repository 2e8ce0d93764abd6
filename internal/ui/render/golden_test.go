package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
)

func TestMain(m *testing.M) { golden.Main(m) }

var sizes = []Options{{Width: 80, Height: 24, Fill: true}, {Width: 120, Height: 40, Fill: true}}

func TestDemoPanels(t *testing.T) {
	frames := demoFrames()
	for _, i := range []int{0, 1, 3, 8, 13} {
		for _, o := range sizes {
			golden.Assert(t, fmt.Sprintf("demo-%02d-%dx%d", i, o.Width, o.Height), Panel(frames[i], o))
		}
	}
}

// The whole demo as it is appended to a stream.
func TestDemoAsStream(t *testing.T) {
	var b strings.Builder
	s := NewScreen(&b, ScreenOptions{})
	for _, f := range demoFrames() {
		if err := s.Draw(Panel(f, Options{Width: 72, Height: 24})); err != nil {
			t.Fatal(err)
		}
	}
	golden.Assert(t, "demo-stream", b.String())
}

func TestStoryPanels(t *testing.T) {
	for name, f := range map[string]Frame{
		"stuck-drain": stuckDrain(), "spot-vanish": spotVanish(), "crowd-5000": crowd(5000), "hostile": hostile(),
	} {
		for _, o := range sizes {
			golden.Assert(t, fmt.Sprintf("%s-%dx%d", name, o.Width, o.Height), Panel(f, o))
		}
	}
}

// Sizes at which parts begin to give way.
func TestSmallPanels(t *testing.T) {
	var b strings.Builder
	for _, o := range []Options{
		{Width: 60, Height: 16}, {Width: 40, Height: 12}, {Width: 24, Height: 8}, {Width: 80, Height: 4}, {Width: 80, Height: 1}, {Width: 7, Height: 2}, {Width: 1, Height: 1},
	} {
		fmt.Fprintf(&b, "== %dx%d ==\n%s\n", o.Width, o.Height, Panel(stuckDrain(), o))
	}
	golden.Assert(t, "small", b.String())
}

func TestASCIIPanel(t *testing.T) {
	golden.Assert(t, "stuck-drain-ascii-80x24", Panel(stuckDrain(), Options{Width: 80, Height: 24, ASCII: true}))
}

// Raw: cat these files to see the colours.
func TestColourPanels(t *testing.T) {
	for _, profile := range []Profile{ASCII, ANSI, ANSI256, TrueColor} {
		golden.Assert(t, "stuck-drain-"+strings.ToLower(profile.String()),
			Panel(stuckDrain(), Options{Width: 80, Height: 24, Profile: profile}))
	}
}

func TestNoEscapeCodesWithoutATerminal(t *testing.T) {
	for _, profile := range []Profile{Unknown, NoTTY} {
		if got := Panel(stuckDrain(), Options{Width: 80, Height: 24, Profile: profile}); strings.Contains(got, "\x1b") {
			t.Errorf("profile %v: the panel has escape codes", profile)
		}
	}
}

func TestPanelRepeats(t *testing.T) {
	o := Options{Width: 100, Height: 30, Profile: TrueColor}
	first := Panel(crowd(300), o)
	for range 20 {
		if again := Panel(crowd(300), o); again != first {
			t.Fatalf("two panels of one frame differ:\n%s\n%s", first, again)
		}
	}
}
