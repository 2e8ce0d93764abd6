package player_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
)

// The keys that move the tape, wherever the user is.
func TestKeysMoveTheTape(t *testing.T) {
	for word, want := range map[string]player.Key{
		" ": player.KeyPause, "left": player.KeyBack, "right": player.KeyForward, "up": player.KeyFarForward, "down": player.KeyFarBack,
		"+": player.KeyFaster, "=": player.KeyFaster, "-": player.KeySlower, "_": player.KeySlower, ".": player.KeyEvent,
		"n": player.KeyTransition, "m": player.KeyMarker, "M": player.KeyLastMarker, "q": player.KeyQuit, "Q": player.KeyQuit,
	} {
		s := open(roll(3), 80, 24)
		s.press(word)
		if diff := cmp.Diff([]tea.Msg{player.Press(want)}, s.said); diff != "" {
			t.Errorf("%q (-want +got):\n%s", word, diff)
		}
	}
	shifted := open(roll(3), 80, 24)
	shifted.send(tea.KeyPressMsg{Code: tea.KeyRight, Mod: tea.ModShift})
	shifted.send(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	if diff := cmp.Diff([]tea.Msg{player.Press(player.KeyFarForward), player.Press(player.KeyQuit)}, shifted.said); diff != "" {
		t.Errorf("shift and ctrl (-want +got):\n%s", diff)
	}
}

// An escape and a key that came together are both obeyed.
func TestEscapeAndAKeyAtOnce(t *testing.T) {
	s := open(roll(3), 80, 24)
	s.press("j")
	s.send(tea.KeyPressMsg{Code: 'm', Mod: tea.ModAlt | tea.ModShift})
	if diff := cmp.Diff([]tea.Msg{player.Press(player.KeyLastMarker)}, s.said); diff != "" || strings.Contains(s.Text(), "esc back") {
		t.Errorf("(-want +got):\n%s\n%s", diff, s.Text())
	}
}

// up and down move the tape until a row is selected, and again when that is left.
func TestUpAndDownSelectAmongRows(t *testing.T) {
	s := open(roll(3), 80, 24)
	s.press("j", "down", "down", "down", "up", "enter")
	if s.said != nil || s.Node() != "ip-10-0-0-001" {
		t.Errorf("said %v, at %q: want nothing, at the second of three", s.said, s.Node())
	}
	s.press("esc", "esc", "up")
	if diff := cmp.Diff([]tea.Msg{player.Press(player.KeyFarForward)}, s.said); diff != "" {
		t.Errorf("after esc (-want +got):\n%s", diff)
	}
}

// A node that goes away leaves its place to the next one.
func TestASelectedNodeGoes(t *testing.T) {
	f := roll(10)
	s := open(f, 80, 24)
	s.press("jjjj", "enter")
	if s.Node() != "ip-10-0-0-003" {
		t.Fatalf("at %q, want the fourth", s.Node())
	}
	s.press("esc")
	f.Snapshot.Nodes = append(append([]noderoll.NodeView(nil), f.Snapshot.Nodes[:3]...), f.Snapshot.Nodes[4:]...)
	s.send(player.Shown{Frame: f, Width: 80, Height: 24})
	s.press("j", "enter")
	if s.Node() != "ip-10-0-0-004" {
		t.Errorf("down from it: at %q, want the fifth", s.Node())
	}
}

func TestAPromptGoesToATime(t *testing.T) {
	s := open(roll(3), 80, 24)
	s.press(":12x", "backspace", "m30s", "enter", ":+1m", "enter", ":end", "enter", ":", "enter", ":9m", "esc", ":", "backspace", ".")
	want := []tea.Msg{player.Seek("12m30s"), player.Seek("+1m"), player.Seek("end"), player.Press(player.KeyEvent)}
	if diff := cmp.Diff(want, s.said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAPromptWritesTheReport(t *testing.T) {
	s := open(roll(3), 80, 24)
	s.press("r", "enter", "r", "backspace", "enter")
	if diff := cmp.Diff([]tea.Msg{player.WriteReport("percentage.html"), player.WriteReport("percentage.htm")}, s.said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.Model = player.New(player.Options{Keys: true})
	s.said = nil
	s.send(player.Shown{Frame: roll(3), Width: 80, Height: 24})
	s.press("r")
	if s.said != nil || !strings.Contains(s.Text(), "want a tape in a file") {
		t.Errorf("without a file: said %v:\n%s", s.said, s.Text())
	}
}

func TestSearchAndFilter(t *testing.T) {
	s := open(roll(1000), 80, 24)
	at := func(want string) {
		t.Helper()
		s.press("enter")
		if s.Node() != want {
			t.Errorf("at %q, want %q", s.Node(), want)
		}
		s.press("enter")
	}
	s.press("/BLOCKED", "enter")
	if !strings.Contains(s.Text(), "no row has BLOCKED") {
		t.Errorf("nothing says that no row matches:\n%s", s.Text())
	}
	s.press("/Checkout", "enter")
	at("ip-10-0-1-083")
	s.press("/draining", "enter")
	at("ip-10-0-1-149")
	s.press("/", "enter")
	at("ip-10-0-1-246")
	s.press("/new", "enter")
	at("ip-10-0-0-000") // around the end
	s.press("&draining shop", "enter")
	at("ip-10-0-1-083")
	if !strings.Contains(s.Text(), "NODES 1 of 1,000   with draining shop") {
		t.Errorf("the filter isn't shown:\n%s", s.Text())
	}
	s.press("esc")
	if strings.Contains(s.Text(), "with draining") {
		t.Errorf("the filter stays:\n%s", s.Text())
	}
}

// In a roll of pods the rows are pods, and a pod leads to its node.
func TestPodsAreRows(t *testing.T) {
	f := roll(3)
	f.Pods = true
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		f.Snapshot.Pods = append(f.Snapshot.Pods, noderoll.PodView{Namespace: "shop", Name: name, Node: "node-of-" + name, Phase: noderoll.PodReady})
	}
	s := open(f, 80, 24)
	s.press("/web-1", "enter", "enter")
	if s.Node() != "node-of-web-1" {
		t.Errorf("at %q, want node-of-web-1:\n%s", s.Node(), s.Text())
	}
	s.press("esc", "&web-2", "enter")
	if text := s.Text(); !strings.Contains(text, "PODS 1 of 3") || strings.Contains(text, "web-0") {
		t.Errorf("the filter leaves more than one pod:\n%s", text)
	}
}

func TestFindings(t *testing.T) {
	f := roll(3)
	f.Position = 0
	s := open(f, 80, 24)
	goes := func(key string, to time.Duration, text string) {
		t.Helper()
		s.said = nil
		s.press(key)
		if diff := cmp.Diff([]tea.Msg{player.SeekTo(to)}, s.said); diff != "" || !strings.Contains(s.Text(), text) {
			t.Fatalf("%s, want %q (-want +got):\n%s\n%s", key, text, diff, s.Text())
		}
		f.Position = to
		s.send(player.Shown{Frame: f, Width: 80, Height: 24})
	}
	s.press("ff")
	if diff := cmp.Diff([]tea.Msg{player.FindFindings{}}, s.said); diff != "" || !strings.Contains(s.Text(), "reading the tape") {
		t.Fatalf("it asks more than once (-want +got):\n%s\n%s", diff, s.Text())
	}
	s.said = nil
	s.send(player.Found{Findings: []player.Finding{{At: time.Minute, Text: "b"}, {At: 2 * time.Second, Text: "a"}, {At: time.Minute, Text: "c"}}})
	if diff := cmp.Diff([]tea.Msg{player.SeekTo(2 * time.Second)}, s.said); diff != "" {
		t.Fatalf("when they have come (-want +got):\n%s", diff)
	}
	f.Position = 2 * time.Second
	s.send(player.Shown{Frame: f, Width: 80, Height: 24})
	goes("f", time.Minute, "finding 2 of 3: b")
	goes("f", time.Minute, "finding 3 of 3: c")
	goes("f", 2*time.Second, "finding 1 of 3: a")
	goes("F", time.Minute, "finding 3 of 3: c")
	goes("F", time.Minute, "finding 2 of 3: b")
	f.Position = 30 * time.Second
	s.send(player.Shown{Frame: f, Width: 80, Height: 24})
	goes("F", 2*time.Second, "finding 1 of 3: a")

	none := open(f, 80, 24)
	none.press("f")
	none.send(player.Found{})
	if len(none.said) != 1 || !strings.Contains(none.Text(), "no findings") {
		t.Errorf("without findings: said %v:\n%s", none.said, none.Text())
	}
}

// Details stay while nobody has looked again, and never are another node's.
func TestDetailsAreOfTheSelectedNode(t *testing.T) {
	f := roll(3)
	s := open(f, 80, 24)
	s.press("j", "enter")
	s.send(player.Shown{Frame: f, Width: 80, Height: 24, Details: &render.Details{Node: s.Node(), Lacks: []string{"of the first"}}})
	s.send(player.Shown{Frame: f, Width: 80, Height: 24})
	if !strings.Contains(s.Text(), "of the first") {
		t.Errorf("its details are gone:\n%s", s.Text())
	}
	s.press("esc", "j", "enter")
	if strings.Contains(s.Text(), "of the first") {
		t.Errorf("another node's details:\n%s", s.Text())
	}
}

// A filter that no node matches leaves nothing that enter could open.
func TestNothingIsSelectedWhereNothingMatches(t *testing.T) {
	s := open(roll(3), 80, 24)
	s.press("j", "&nobody", "enter", "enter")
	if s.Node() != "" || !strings.Contains(s.Text(), "no node matches") {
		t.Errorf("at %q, want no node:\n%s", s.Node(), s.Text())
	}
}

// What is typed is seen at any size, and of a long text the end.
func TestAPromptIsSeen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 10}, {30, 3}, {20, 2}, {20, 1}} {
		s := open(roll(3), size[0], size[1])
		s.press(":" + strings.Repeat("9", 90) + "m7s")
		lines := strings.Split(s.Text(), "\n")
		if last := lines[len(lines)-1]; !strings.HasSuffix(last, "999m7s_") || !strings.HasPrefix(strings.TrimSpace(last), "go to: ") || len(lines) > size[1] {
			t.Errorf("%d x %d: found\n%s", size[0], size[1], s.Text())
		}
	}
}
