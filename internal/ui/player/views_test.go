package player_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
)

var sizes = []struct{ width, height int }{{80, 24}, {120, 40}, {200, 60}}

// What a user sees who selects, filters, opens a node's details and asks for the keys.
func TestViews(t *testing.T) {
	for _, n := range []int{3, 1000} {
		for _, size := range sizes {
			s := open(roll(n), size.width, size.height)
			var b strings.Builder
			see := func(what string) { fmt.Fprintf(&b, "== %s ==\n%s\n", what, s.Text()) }
			s.press("jj")
			see("the second row is selected")
			s.press("pgdown")
			see("a page further")
			s.press("&draining", "enter")
			see("those that drain")
			s.press("enter")
			s.send(player.Shown{Frame: roll(n), Width: size.width, Height: size.height, Details: details(s.Node())})
			see("details")
			s.press("pgdown", "?")
			see("further down, with the keys")
			s.press(":12m")
			see("a time is typed")
			golden.Assert(t, fmt.Sprintf("views-%d-%dx%d", n, size.width, size.height), b.String())
		}
	}
}

// A user who presses nothing sees the panel as it is, byte for byte.
func TestWhoOnlyWatchesSeesThePanel(t *testing.T) {
	for _, n := range []int{3, 1000} {
		for _, size := range sizes {
			f := roll(n)
			want := render.Panel(f, render.Options{Width: size.width, Height: size.height, Fill: true})
			if got := open(f, size.width, size.height).Text(); got != want {
				t.Errorf("%d nodes, %v: got\n%s\nwant\n%s", n, size, got, want)
			}
			s := open(f, size.width, size.height)
			s.press("jjG?", "enter", "esc", "esc", "?")
			if got := s.Text(); got != want {
				t.Errorf("%d nodes, %v: after leaving everything got\n%s\nwant\n%s", n, size, got, want)
			}
		}
	}
}

// hostile are texts that would move a cursor, colour a screen, or take more cells than they say.
var hostile = []string{
	"\x1b[2J\x1b[H\x1b]0;title\x07", "a\nb\r\nc", "\u202eevil\u202c", "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", "e\u0301\u0301\u0301\u0301\u0301\u0301", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "\x9b31mred",
	strings.Repeat("x", 5000), "", " ",
}

// Whatever is pressed, typed and shown, at whatever size: no line is too wide, none is too many, and none acts on the
// terminal.
func TestNothingBreaksOut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func() string { return hostile[random.IntN(len(hostile))] }
	frame := func() render.Frame {
		f := roll(3 + random.IntN(40))
		for i := range f.Snapshot.Nodes {
			f.Snapshot.Nodes[i].Name = fmt.Sprint(pick(), i)
		}
		if random.IntN(4) == 0 {
			f.Pods = true
			f.Snapshot.Pods = []noderoll.PodView{{Name: pick(), Namespace: pick(), Node: pick()}, {Name: pick(), Node: pick()}}
		}
		return f
	}
	keys := strings.Fields("j k g G pgdown pgup enter esc / & : r f F ? a old backspace up down home end n space h")
	for round := range 20 {
		s := open(frame(), 80, 24)
		for range 60 {
			width, height := random.IntN(130), random.IntN(45)
			var d *render.Details
			if random.IntN(2) == 0 {
				d = details(s.Node())
				d.Facts, d.Taints, d.Lacks = []string{pick()}, []string{pick()}, []string{pick()}
				d.Pods[0].Name, d.Pods[0].Status, d.Conditions[0].Message, d.Events[0].Object = pick(), pick(), pick(), pick()
			}
			switch random.IntN(5) {
			case 0:
				s.send(player.Shown{Frame: frame(), Width: width, Height: height, Details: d, Below: []string{pick()}})
			case 1:
				s.send(player.Said(pick()))
			case 2:
				s.send(player.Found{Findings: []player.Finding{{At: time.Second, Node: pick(), Text: pick()}}})
			case 3:
				s.press(pick())
			default:
				s.press(keys[random.IntN(len(keys))])
			}
			width, height = s.Size()
			lines := strings.Split(s.Text(), "\n")
			if len(lines) > max(height, 1) {
				t.Fatalf("round %d: %d lines of %d:\n%s", round, len(lines), height, s.Text())
			}
			for _, line := range lines {
				if w := ansi.StringWidth(line); w > width {
					t.Fatalf("round %d: %d cells of %d: %q", round, w, width, line)
				}
				if strings.ContainsFunc(line, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }) {
					t.Fatalf("round %d: a control character: %q", round, line)
				}
			}
		}
	}
}

// What can't be done is said, and forgotten with the next key.
func TestNotices(t *testing.T) {
	s := open(roll(3), 80, 24)
	s.send(player.Said("the tape ends at T+3m10.000s"))
	if !strings.HasSuffix(s.Text(), "\n the tape ends at T+3m10.000s") {
		t.Errorf("the notice isn't the last line:\n%s", s.Text())
	}
	s.send(player.Said(strings.Repeat("a sentence of many words ", 9)))
	if lines := strings.Split(s.Text(), "\n"); len(lines) != 24 || !strings.HasPrefix(lines[21], " a sentence") || !strings.HasSuffix(lines[23], "words") {
		t.Errorf("a long notice isn't wrapped:\n%s", s.Text())
	}
	s.press("j")
	if strings.Contains(s.Text(), "the tape ends") || strings.Contains(s.Text(), "a sentence") {
		t.Errorf("the notice stays:\n%s", s.Text())
	}
	s.press("f")
	s.send(player.Found{Err: errors.New("tape roll.yaml: line 3: bad")})
	if !strings.Contains(s.Text(), "line 3: bad") {
		t.Errorf("why there are no findings isn't said:\n%s", s.Text())
	}
}

func BenchmarkView(b *testing.B) {
	for _, n := range []int{3, 1000} {
		for _, c := range []struct {
			name string
			keys []string
		}{{"watch", nil}, {"browse", []string{"G"}}, {"filter", []string{"&old ready", "enter"}}, {"details", []string{"j", "enter"}}} {
			for _, size := range sizes[:2] {
				b.Run(fmt.Sprintf("nodes=%d/%s/%dx%d", n, c.name, size.width, size.height), func(b *testing.B) {
					b.ReportAllocs()
					s := open(roll(n), size.width, size.height)
					s.press(c.keys...)
					s.send(player.Shown{Frame: roll(n), Width: size.width, Height: size.height, Details: details(s.Node())})
					for b.Loop() {
						_ = s.Text()
					}
				})
			}
		}
	}
}
