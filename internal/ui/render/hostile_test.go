package render

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/nodesim/nodesim/noderoll"
)

// hostileTexts are texts that a name or a message may have.
var hostileTexts = []string{
	"", " ", "a", "ip-10-0-1-12.eu-west-1.compute.internal", strings.Repeat("x", 300), strings.Repeat("x ", 5000),
	"\x1b[2J\x1b[H", "\x1b]0;owned\x07title", "\x1b]52;c;aGk=", "\u009b2J", "\x9b2J", "\x1bP+q\x1b\\", "a\r\nb\tc\vd", "\x00\x01\x07\x08\x7f",
	"\u202eevil\u202c", "\u2066\u2067\u2069", "a\u200b\u200d\ufeffb", "z" + strings.Repeat("\u0301", 400), strings.Repeat("\u20dd", 9),
	"节点-一二三四五六七八九十", "노드", "\U0001F468\u200d\U0001F469\u200d\U0001F467\u200d\U0001F466", "\U0001F1E9\U0001F1EA", "1\ufe0f\u20e3",
	strings.Repeat("\u1100", 60), "\u0e01\u0e33", "क्षि", "\u0600\u0601١٢", "مرحبا", "\xff\xfe\xc3\x28", "\ufffe\uffff\U0010ffff", "\U000e0001\U000e0041",
	"NaN", "%s%d%!", "…", "━━━━", "\u3164\u2800\u00ad",
}

type chaos struct{ *rand.Rand }

func (c chaos) text() string {
	s := hostileTexts[c.IntN(len(hostileTexts))]
	if c.IntN(3) == 0 {
		s += hostileTexts[c.IntN(len(hostileTexts))]
	}
	return s
}

func (c chaos) number() int {
	numbers := []int{0, 1, 2, 3, 7, 1000, -1, math.MaxInt, math.MinInt, math.MaxInt32}
	return numbers[c.IntN(len(numbers))]
}

func (c chaos) duration() time.Duration {
	return []time.Duration{0, 1, time.Second, 90 * time.Minute, -time.Second, math.MaxInt64, math.MinInt64}[c.IntN(7)]
}

func (c chaos) texts() (s []string) {
	for range c.IntN(7) {
		s = append(s, c.text())
	}
	return s
}

func (c chaos) frame() Frame {
	phases := []noderoll.Phase{noderoll.PhaseReady, noderoll.PhaseJoining, noderoll.PhaseDraining, noderoll.PhaseNotReady, "", "\x1b[31mOdd"}
	kinds := []noderoll.EventKind{noderoll.EvtJoining, noderoll.EvtBlocked, noderoll.EvtGap, noderoll.EvtWarning, noderoll.EvtComplete, "", "\x1b]0;x\x07"}
	f := Frame{
		Title: c.text(), Nodegroup: c.text(), Server: c.text(), FromImage: c.text(), ToImage: c.text(),
		Desired: c.number(), Failed: hostileTexts[c.IntN(3)*c.IntN(9)], Live: c.IntN(2) == 0, Stale: c.text(),
		Position: c.duration(), Duration: c.duration(), Speed: c.text(), Paused: c.IntN(2) == 0, Hint: c.text(),
		Blocked: map[string]string{},
	}
	s := &f.Snapshot
	for range c.IntN(1 + c.IntN(40)) {
		s.Nodes = append(s.Nodes, noderoll.NodeView{
			Name: c.text(), OnTarget: c.IntN(2) == 0, Ready: c.IntN(2) == 0, Phase: phases[c.IntN(len(phases))],
			Pods: c.number(), PodsTotal: c.number(), Pressure: c.texts(), Image: c.text(), PodsUnknown: c.IntN(4) == 0,
		})
	}
	s.Total, s.ReadyTarget, s.Draining = c.number(), c.number(), c.number()
	for range c.IntN(12) {
		s.Warnings = append(s.Warnings, noderoll.WarnEvent{Node: c.text(), Object: c.text(), Reason: c.text(), Message: c.text()})
		f.Recent = append(f.Recent, noderoll.Entry{
			At: c.duration(), Kind: kinds[c.IntN(len(kinds))], Node: c.text(), Object: c.text(), Reason: c.text(), Message: c.text(),
		})
		f.Blocked[c.text()] = c.text()
	}
	s.WarningsError, s.PodsError = c.text(), c.text()
	if c.IntN(3) == 0 {
		f.Browse = &Browse{Filter: c.text(), Selected: c.text()}
	}
	if c.IntN(4) == 0 {
		f.Details = c.details()
	}
	return f
}

func (c chaos) details() *Details {
	d := &Details{Node: c.text(), Facts: c.texts(), Taints: c.texts(), Lacks: c.texts(), First: c.number()}
	for range c.IntN(9) {
		d.Conditions = append(d.Conditions, Condition{Type: c.text(), Status: c.text(), For: c.text(), Reason: c.text(), Message: c.text(), Trouble: c.IntN(2) == 0})
		d.Pods = append(d.Pods, Pod{Name: c.text(), Ready: c.text(), Status: c.text(), For: c.text(), Restarts: c.number()})
		d.Events = append(d.Events, Event{Ago: c.text(), Reason: c.text(), Object: c.text(), Message: c.text(), Warning: c.IntN(2) == 0})
	}
	return d
}

// sgr are the only sequences that a panel may hold: colours, bold
// and faint.
var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func checkPanel(t *testing.T, panel string, o Options) {
	t.Helper()
	if panel == "" {
		if o.Width > 0 && o.Height > 0 {
			t.Errorf("%dx%d: an empty panel", o.Width, o.Height)
		}
		return
	}
	plain := sgr.ReplaceAllString(panel, "")
	if o.Profile < ASCII && plain != panel {
		t.Errorf("%dx%d: escape codes without a terminal", o.Width, o.Height)
	}
	lines := strings.Split(plain, "\n")
	if len(lines) > o.Height || o.Fill && len(lines) != o.Height {
		t.Errorf("%dx%d: %d lines", o.Width, o.Height, len(lines))
	}
	for _, line := range lines {
		if w := max(ansi.StringWidth(line), ansi.StringWidthWc(line), cells(line)); w > o.Width {
			t.Errorf("%dx%d: a line of %d cells: %q", o.Width, o.Height, w, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("%dx%d: spaces at the end of %q", o.Width, o.Height, line)
		}
		for _, r := range line {
			if r < ' ' || r >= 0x7f && (o.ASCII || r < 0xa0) {
				t.Errorf("%dx%d: %U in %q", o.Width, o.Height, r, line)
			}
		}
		checkVisible(t, strings.Join(strings.Fields(line), " "))
	}
}

func TestAnySizeAnySnapshot(t *testing.T) {
	c := chaos{rand.New(rand.NewPCG(1, 2))}
	for range 500 {
		o := Options{
			Width: 1 + c.IntN(1+c.IntN(500)), Height: 1 + c.IntN(1+c.IntN(200)),
			Profile: Profile(c.IntN(6)), ASCII: c.IntN(3) == 0, Fill: c.IntN(2) == 0,
		}
		checkPanel(t, Panel(c.frame(), o), o)
		if t.Failed() {
			return
		}
	}
}

// Every small size, in which parts and columns give way.
func TestEverySmallSize(t *testing.T) {
	for _, f := range []Frame{{}, stuckDrain(), crowd(30)} {
		for width := 0; width <= 64; width++ {
			for height := 0; height <= 26; height++ {
				o := Options{Width: width, Height: height, ASCII: width%2 == 0, Fill: height%2 == 0}
				checkPanel(t, Panel(f, o), o)
			}
		}
	}
}

func TestOptionsOutOfBounds(t *testing.T) {
	for _, o := range []Options{{Width: -1, Height: 5}, {Width: 5, Height: -1}, {}, {Width: math.MinInt, Height: math.MinInt}} {
		if got := Panel(stuckDrain(), o); got != "" {
			t.Errorf("%dx%d: got %q, want nothing", o.Width, o.Height, got)
		}
	}
	huge := Panel(stuckDrain(), Options{Width: math.MaxInt, Height: math.MaxInt, Fill: true, Profile: 200})
	lines := strings.Split(huge, "\n")
	if len(lines) != largestSide {
		t.Errorf("got %d lines, want %d", len(lines), largestSide)
	}
}

// ASCII panels are ASCII when they are coloured as well.
func TestASCIIWithColour(t *testing.T) {
	o := Options{Width: 80, Height: 24, ASCII: true, Profile: TrueColor}
	panel := Panel(stuckDrain(), o)
	checkPanel(t, panel, o)
	if !strings.Contains(panel, "\x1b[") {
		t.Error("the panel has no colour")
	}
}

func FuzzPanel(f *testing.F) {
	f.Add("ip-10-0-1-12", "\x1b[31m", uint16(80), uint16(24))
	f.Add("节点\u1100\u1100", "z\u0301\u0301\u0301", uint16(20), uint16(9))
	f.Fuzz(func(t *testing.T, name, message string, width, height uint16) {
		node := draining(name, 1, 3)
		node.Image, node.Pressure = message, []string{name}
		frame := frame(snapshot(node, joining(message)))
		frame.Title, frame.Hint, frame.Stale = message, name, message
		frame.Blocked = map[string]string{name: message}
		frame.Recent = []noderoll.Entry{{Kind: noderoll.EvtWarning, Node: name, Object: message, Reason: name, Message: message}}
		frame.Snapshot.Warnings = []noderoll.WarnEvent{{Node: name, Object: name, Reason: message, Message: message}}
		o := Options{Width: int(width % 300), Height: int(height % 60), ASCII: width%2 == 0}
		checkPanel(t, Panel(frame, o), o)
	})
}
