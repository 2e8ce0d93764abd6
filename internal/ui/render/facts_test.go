package render

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

var wide = Options{Width: 100, Height: 40}

func wantText(t *testing.T, panel string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(panel, want) {
			t.Errorf("the panel lacks %q:\n%s", want, panel)
		}
	}
}

func lackText(t *testing.T, panel string, lacks ...string) {
	t.Helper()
	for _, lack := range lacks {
		if strings.Contains(panel, lack) {
			t.Errorf("the panel has %q:\n%s", lack, panel)
		}
	}
}

// In the middle of a roll of three: one replaced, one draining with three of
// four pods gone, one joining.
func TestMidRollPanel(t *testing.T) {
	gone := draining("ip-1", 1, 4)
	panel := Panel(Frame{
		Nodegroup: "spot-burst", FromImage: "ami-old", ToImage: "ami-new", Desired: 3,
		Snapshot: snapshot(gone, old("ip-2"), fresh("ip-3"), joining("ip-4")),
		Recent:   []noderoll.Entry{entry(1000, noderoll.EvtOnline, "ip-3"), entry(2000, noderoll.EvtDraining, "ip-1")},
	}, wide)
	wantText(t, panel, "rolling spot-burst", "ami-old → ami-new", "1/3 replaced", "1 new ready", "3/4 pods", "joining (NotReady)",
		"online", "draining", "ip-1", "ip-2", "ip-3", "ip-4")
	lackText(t, panel, "\x1b", "complete")
}

func TestReplaced(t *testing.T) {
	for _, c := range []struct{ desired, off, on, want int }{
		{3, 3, 0, 0}, {3, 2, 2, 1}, {3, 0, 3, 3},
		{3, 5, 0, 0}, // attached in the middle of a surge of the old group
		{0, 0, 3, 0}, {-1, 0, 1, 0}, {math.MinInt, 1, 0, 0}, {math.MaxInt, 1, 0, math.MaxInt - 1},
	} {
		var nodes []noderoll.NodeView
		for range c.off {
			nodes = append(nodes, old("old"))
		}
		for range c.on {
			nodes = append(nodes, fresh("new"))
		}
		if got := replaced(c.desired, count(snapshot(nodes...).Nodes).off); got != c.want {
			t.Errorf("%d desired, %d off target: got %d replaced, want %d", c.desired, c.off, got, c.want)
		}
	}
}

func TestEvicted(t *testing.T) {
	for _, c := range []struct{ left, total, want int }{
		{4, 4, 0}, {1, 4, 3}, {0, 4, 4}, {0, 0, 0},
		{7, 4, 0}, {-1, 4, 4}, {3, -2, 0}, {math.MinInt, math.MaxInt, math.MaxInt}, {math.MaxInt, math.MinInt, 0},
	} {
		if got := Evicted(noderoll.NodeView{Pods: c.left, PodsTotal: c.total}); got != c.want {
			t.Errorf("%d of %d pods left: got %d evicted, want %d", c.left, c.total, got, c.want)
		}
	}
}

func TestCompletion(t *testing.T) {
	done := Frame{Desired: 3, Snapshot: snapshot(fresh("a"), fresh("b"), fresh("c"))}
	wantText(t, Panel(done, wide), "3/3 replaced", "3 new ready", "✓ complete")
	for name, s := range map[string]noderoll.Snapshot{
		"a drain is left":          snapshot(fresh("a"), fresh("b"), fresh("c"), draining("d", 1, 2)),
		"two are ready, one to go": snapshot(fresh("a"), fresh("b"), old("c"), draining("d", 0, 2)),
		"a surge over old nodes":   snapshot(fresh("a"), fresh("b"), fresh("c"), old("d")),
		"one is joining":           snapshot(fresh("a"), fresh("b"), fresh("c"), joining("d")),
		"one has fallen silent":    snapshot(fresh("a"), fresh("b"), silent(fresh("c"))),
		"an empty group":           snapshot(),
	} {
		t.Run(name, func(t *testing.T) {
			lackText(t, Panel(Frame{Desired: 3, Snapshot: s}, wide), "complete")
		})
	}
}

func TestFailureIsSaid(t *testing.T) {
	f := stuckDrain()
	f.Failed = "no progress for 15m"
	wantText(t, Panel(f, wide), "✗ failed: no progress for 15m")
	lackText(t, Panel(f, wide), "complete")
}

// The denominator is the number that the roll began with; a frame that doesn't say counts
// its own nodes.
func TestDesiredDefaultsToTheNodesThatThereAre(t *testing.T) {
	wantText(t, Panel(Frame{Snapshot: snapshot(old("a"), fresh("b"))}, wide), "1/2 replaced")
}

func TestUnknownPodsAreNotZeroPods(t *testing.T) {
	unknown := draining("a", 0, 0)
	unknown.PodsUnknown = true
	f := Frame{Snapshot: snapshot(unknown)}
	f.Snapshot.PodsError = "pods is forbidden"
	wantText(t, Panel(f, wide), "pods unknown", "pods are not counted: pods is forbidden")
	none := Panel(Frame{Snapshot: snapshot(draining("a", 0, 0))}, wide)
	wantText(t, none, "no pods")
	lackText(t, none, "unknown", "not counted")
}

func TestDrainOfASilentNode(t *testing.T) {
	n := draining("a", 2, 2)
	n.Ready = false
	wantText(t, Panel(Frame{Snapshot: snapshot(n)}, wide), "draining (NotReady)", "0/2 pods")
}

func TestWarningMessages(t *testing.T) {
	long := strings.Repeat("节", 100)
	f := Frame{Snapshot: snapshot(old("a"))}
	f.Snapshot.Warnings = []noderoll.WarnEvent{{Node: "a", Object: "Node/a", Reason: "Many", Message: "first\n\tsecond  third"}, {Node: "a", Object: "Node/a", Reason: "Long", Message: long}}
	panel := Panel(f, Options{Width: 200, Height: 30})
	wantText(t, panel, "first second third", strings.Repeat("节", 93)+"…\n") // as many as the line holds
	lackText(t, panel, "\ufffd")
}

func TestEveryKindHasAPhrase(t *testing.T) {
	th := newTheme(wide)
	seen := map[string]noderoll.EventKind{}
	for _, k := range []noderoll.EventKind{
		noderoll.EvtJoining, noderoll.EvtOnline, noderoll.EvtDraining, noderoll.EvtNotReady, noderoll.EvtTerminated,
		noderoll.EvtEvicted, noderoll.EvtBlocked, noderoll.EvtUnblocked, noderoll.EvtPressure, noderoll.EvtWarning,
		noderoll.EvtGap, noderoll.EvtMark, noderoll.EvtComplete, noderoll.EvtFailed, "something new",
		noderoll.EvtUpdating, noderoll.EvtUpdated, noderoll.EvtRolledBack, noderoll.EvtRestarted,
		noderoll.EvtResizing, noderoll.EvtResized, noderoll.EvtDeferred, noderoll.EvtInfeasible,
	} {
		s := th.eventSign(k)
		if s.phrase == "" || len(s.phrase) > 16 || !isASCII(s.phrase) || cells(s.glyph) != 1 {
			t.Errorf("%s: got %+v, want a short phrase and a glyph of one cell", k, s)
		}
		if other, ok := seen[s.phrase]; ok {
			t.Errorf("%s and %s have one phrase: %s", k, other, s.phrase)
		}
		seen[s.phrase] = k
	}
}

func TestWhatEntriesSay(t *testing.T) {
	for want, e := range map[string]noderoll.Entry{
		"pod evicted  a  shop/web-7f9c":               {Kind: noderoll.EvtEvicted, Node: "a", Object: "Pod/shop/web-7f9c"},
		"gap in the tape  pods: 410 Expired: too old": {Kind: noderoll.EvtGap, Object: "pods", Reason: "410 Expired: too old"},
		"mark        start: the roll begins":          {Kind: noderoll.EvtMark, Reason: "start", Message: "the roll begins"},
		"mark        start":                           {Kind: noderoll.EvtMark, Reason: "start"},
		"roll failed  NoProgress: gave up":            {Kind: noderoll.EvtFailed, Reason: "NoProgress", Message: "gave up"},
		"pressure    a  DiskPressure":                 {Kind: noderoll.EvtPressure, Node: "a", Reason: "DiskPressure"},
		"drain blocked  a  shop/web: needs 10":        {Kind: noderoll.EvtBlocked, Node: "a", Object: "PodDisruptionBudget/shop/web", Reason: "DisruptionBudget", Message: "needs 10"},
		"warning     a  BackOff Pod/shop/web: again":  {Kind: noderoll.EvtWarning, Node: "a", Object: "Pod/shop/web", Reason: "BackOff", Message: "again"},
		"roll complete  3 nodes on target":            {Kind: noderoll.EvtComplete, Message: "3 nodes on target"},
		"terminated  a":                               {Kind: noderoll.EvtTerminated, Node: "a"},
	} {
		wantText(t, Panel(Frame{Recent: []noderoll.Entry{e}}, wide), want+"\n")
	}
}

func TestSixEventsOfManyAndMoreWhereThereIsRoom(t *testing.T) {
	f := frame(snapshot(old("a")))
	for i := range 40 {
		f.Recent = append(f.Recent, entry(i*1000, noderoll.EvtMark, ""))
	}
	lines := func(o Options) int { return strings.Count(Panel(f, o), "  · mark") }
	// Five lines of header and status, a node, three names, three empty lines.
	for height, want := range map[int]int{24: 24 - 10, 16: 6, 60: 40} {
		if got := lines(Options{Width: 80, Height: height}); got != want {
			t.Errorf("height %d: got %d events, want %d", height, got, want)
		}
	}
	wantText(t, Panel(f, Options{Width: 80, Height: 24}), "T+39.000s")
}

func TestStatusLine(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Frame)
		want   string
	}{
		"playing":    {func(*Frame) {}, "▸ 20x  1:32 "},
		"no speed":   {func(f *Frame) { f.Speed = "" }, "▸  1:32 "},
		"paused":     {func(f *Frame) { f.Paused = true }, "‖ paused 20x  1:32 "},
		"at the end": {func(f *Frame) { f.Position = f.Duration }, "· end  3:10 "},
		"complete":   {func(f *Frame) { f.Position, f.Snapshot = f.Duration, snapshot(fresh("a")) }, "✓ end  3:10 "},
		"failed": {func(f *Frame) {
			f.Position, f.Snapshot, f.Failed = f.Duration, snapshot(fresh("a")), "PodEvictionFailure"
		}, "✗ end  3:10 "},
		"hours":  {func(f *Frame) { f.Position, f.Duration = time.Hour+2*time.Minute+3*time.Second, 3*time.Hour }, "1:02:03 "},
		"live":   {func(f *Frame) { f.Live = true }, "● live  1:32"},
		"stale":  {func(f *Frame) { f.Live, f.Stale = true, "EOF\nagain" }, "▲ stale: EOF again"},
		"no end": {func(f *Frame) { f.Duration = 0 }, "▸ 20x  1:32"},
		"before": {func(f *Frame) { f.Position = -time.Second }, "-0:01 "},
	} {
		t.Run(name, func(t *testing.T) {
			f := frame(snapshot(old("a")))
			c.change(&f)
			lines := strings.Split(Panel(f, wide), "\n")
			wantText(t, lines[len(lines)-1], c.want, "space pause, q quit")
		})
	}
}

func TestStatusLineIsLast(t *testing.T) {
	lines := strings.Split(Panel(stuckDrain(), Options{Width: 80, Height: 50, Fill: true}), "\n")
	if len(lines) != 50 || !strings.Contains(lines[49], "▸ 20x") {
		t.Errorf("got %d lines, the last %q, want 50 and the status line", len(lines), lines[len(lines)-1])
	}
}

// A budget that would refuse the pods of a cordoned node, from which nobody evicts
// yet, is a remark; one that holds up a drain is trouble.
func TestWouldBeBlockedIsNotBlocked(t *testing.T) {
	waits, drains := draining("ip-1", 4, 4), draining("ip-2", 2, 4)
	waits.Cordoned, waits.HeldBy, drains.HeldBy = true, "shop/web", "shop/web"
	f := Frame{Snapshot: snapshot(waits, drains)}
	panel := Panel(f, wide)
	wantText(t, panel, "cordoned            4 pods  would be blocked by shop/web\n", "draining            ━━━━────  2/4 pods\n")
	lackText(t, panel, "▲")

	f.Blocked = map[string]string{"ip-2": "shop/web"}
	wantText(t, Panel(f, wide), "4 pods  would be blocked by shop/web\n", "2/4 pods  ▲ shop/web\n", "▲ blocked\n")
	f.Blocked = map[string]string{"ip-1": "shop/web", "ip-2": "shop/web"}
	panel = Panel(f, wide)
	wantText(t, panel, "4 pods  ▲ shop/web\n")
	lackText(t, panel, "would be")

	freed := waits
	freed.HeldBy = ""
	lackText(t, Panel(Frame{Snapshot: snapshot(freed)}, wide), "blocked")
	ready := old("ip-3")
	ready.HeldBy, ready.Cordoned = "shop/web", true // no state that a snapshot has
	lackText(t, Panel(Frame{Snapshot: snapshot(ready)}, wide), "blocked")
}

// On a line of 80 cells the remark keeps its words, and names are whole.
func TestRemarkOnANarrowLine(t *testing.T) {
	waits := draining("ip-10-1-126-180.eu-central-1.compute.internal", 3, 4)
	waits.Cordoned, waits.HeldBy = true, "shop/a-budget-of-a-long-name"
	wantText(t, Panel(Frame{Snapshot: snapshot(waits)}, Options{Width: 80, Height: 24}),
		"ip-10-1-126-180  old  cordoned            3 pods  would be blocked by shop/")
}

// Only a roll that is complete ends with a ✓, and with green.
func TestFailedRollHasNoTick(t *testing.T) {
	for name, change := range map[string]func(*Frame){
		"failed":                   func(f *Frame) { f.Failed = "PodEvictionFailure" },
		"failed, all on target":    func(f *Frame) { f.Failed, f.Snapshot = "RolledBack", snapshot(fresh("a"), fresh("b")) },
		"blocked":                  func(*Frame) {},
		"the surge is still there": func(f *Frame) { f.Rolling, f.Snapshot = true, snapshot(fresh("a"), fresh("b")) },
	} {
		f := stuckDrain()
		change(&f)
		f.Position = f.Duration
		lackText(t, Panel(f, wide), "✓", "complete")
		painted := strings.Split(Panel(f, Options{Width: 100, Height: 40, Profile: ANSI}), "\n")
		if end := painted[len(painted)-1]; strings.Contains(end, "\x1b[32m") || !strings.Contains(end, " end") {
			t.Errorf("%s: the last line %q, want no green", name, end)
		}
	}
}

// Nodes that come and go without a new image are no roll from an image to itself.
func TestSameImageIsNoRoll(t *testing.T) {
	f := frame(snapshot(fresh("a"), fresh("b")))
	f.FromImage, f.ToImage = "ami-1", "ami-1"
	panel := Panel(f, wide)
	wantText(t, panel, "surge.tape  group spot-burst", "\n ami-1\n")
	lackText(t, panel, "→", "rolling")
	f.ToImage = "ami-2"
	wantText(t, Panel(f, wide), "rolling spot-burst", "ami-1 → ami-2")
}

// A warning that every new node gives comes after all others, and gives them its room.
func TestRoutineWarningsComeLast(t *testing.T) {
	f := Frame{Snapshot: snapshot(fresh("a"), fresh("b"), fresh("z"))}
	for _, node := range []string{"a", "b", "c", "d"} {
		f.Snapshot.Warnings = append(f.Snapshot.Warnings, noderoll.WarnEvent{Node: node, Object: "Node/" + node, Reason: "InvalidDiskCapacity", Message: "invalid capacity 0"})
	}
	f.Snapshot.Warnings = append(f.Snapshot.Warnings,
		noderoll.WarnEvent{Node: "y", Object: "Node/y", Reason: "EvictionThresholdMet", Message: "Attempting to reclaim memory"},
		noderoll.WarnEvent{Node: "z", Object: "Pod/web", Reason: "BackOff", Message: "again"})
	before := slices.Clone(f.Snapshot.Warnings)
	panel := Panel(f, Options{Width: 80, Height: 14})
	first, second := strings.Index(panel, "EvictionThreshold"), strings.Index(panel, "BackOff")
	routine := strings.Index(panel, "InvalidDiskCapacity")
	if wantText(t, panel, "WARNINGS 6", "more"); first < 0 || second < first || routine >= 0 && routine < second {
		t.Errorf("the order of the warnings:\n%s", panel)
	}
	if !slices.Equal(before, f.Snapshot.Warnings) {
		t.Error("the snapshot's own warnings were sorted")
	}
}

// Where a detail would be cut, events and warnings leave out the domain that their
// names share; a name keeps the digits that tell it from others.
func TestSharedDomainGoesBeforeDetails(t *testing.T) {
	const domain = ".eu-central-1.compute.internal"
	f := Frame{Snapshot: snapshot(old("ip-10-1-31-173"+domain), old("ip-10-0-0-4"+domain))}
	said := entry(1000, noderoll.EvtNotReady, "ip-10-1-31-173"+domain)
	f.Recent = []noderoll.Entry{entry(500, noderoll.EvtOnline, "ip-10-0-0-4"+domain), said}
	narrow := Options{Width: 80, Height: 24}
	wantText(t, Panel(f, narrow), "not ready   ip-10-1-31-173"+domain+"\n")
	f.Recent[1].Reason, f.Recent[1].Message = "NodeStatusUnknown", "Kubelet stopped posting node status."
	panel := Panel(f, narrow)
	wantText(t, panel, "online      ip-10-0-0-4\n", "not ready   ip-10-1-31-173  NodeStatusUnknown: Kubelet")
	wantText(t, panel, "ip-10-0-0-4"+domain+"     old  ready\n") // rows of nodes have room
	f.Recent[0].Node = "elsewhere.example.org"
	wantText(t, Panel(f, narrow), "not ready   ip-10-1-31-173"+domain)

	f.Recent = nil
	f.Snapshot.Warnings = []noderoll.WarnEvent{
		{Node: "ip-10-1-31-173" + domain, Object: "Node/ip-10-1-31-173" + domain, Reason: "Rebooted", Message: "boot id"},
	}
	wantText(t, Panel(f, narrow), "▲ ip-10-1-31-173  Rebooted  boot id\n")
}
