package render

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/noderoll"
)

// Every node is either on a row or counted.
func TestCrowdIsShownOrCounted(t *testing.T) {
	for _, n := range []int{1, 2, 3, 20, 300, 5000} {
		f := crowd(n)
		for rows := 1; rows < 40; rows++ {
			p := newPainter(&f, Options{Width: 80, Height: 24})
			shown, rest := p.pick(rows)
			if len(shown)+rest.total != n {
				t.Fatalf("%d nodes, %d rows: %d shown and %d counted", n, rows, len(shown), rest.total)
			}
			if sum := rest.readyNew + rest.readyOld + rest.joining + rest.draining + rest.notReady + rest.unknownPhase; sum != rest.total {
				t.Fatalf("%d nodes, %d rows: the phases of the rest add up to %d, want %d", n, rows, sum, rest.total)
			}
			if lines := len(p.nodes(rows)) - 1; lines > rows {
				t.Fatalf("%d nodes: %d rows where %d were given", n, lines, rows)
			}
		}
	}
}

func TestWhatMovesComesFirst(t *testing.T) {
	blocked, pressed := draining("n2", 1, 1), old("n6")
	pressed.Pressure = []string{"DiskPressure"}
	f := Frame{
		Snapshot: snapshot(silent(old("n1")), blocked, draining("n3", 1, 1), joining("n4"),
			noderoll.NodeView{Name: "n5", Phase: "Odd"}, pressed, old("n7"), old("n8"), old("n9"), old("n0")),
		Blocked: map[string]string{"n2": ""},
		Recent:  []noderoll.Entry{{Kind: noderoll.EvtOnline, Node: "n7"}},
	}
	p := newPainter(&f, wide)
	for rows, want := range map[int]string{
		1: "n1", 4: "n1 n2 n3", 8: "n1 n2 n3 n4 n5 n6 n7", 9: "n1 n2 n3 n4 n5 n6 n7 n0",
		10: "n0 n1 n2 n3 n4 n5 n6 n7 n8 n9", // All fit: by name, so that none jumps.
	} {
		var names []string
		shown, _ := p.pick(rows)
		for _, n := range shown {
			names = append(names, n.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%d rows: got %s, want %s", rows, got, want)
		}
	}
}

func TestPickLeavesTheSnapshotAlone(t *testing.T) {
	f := Frame{Snapshot: noderoll.Snapshot{Nodes: []noderoll.NodeView{old("b"), draining("a", 1, 2), old("c")}}}
	before := f.Snapshot.Clone()
	for rows := 1; rows < 5; rows++ {
		Panel(f, Options{Width: 80, Height: rows + 5})
	}
	for i, n := range f.Snapshot.Nodes {
		if n.Name != before.Nodes[i].Name {
			t.Fatalf("node %d became %s: the caller's slice was sorted", i, n.Name)
		}
	}
}

func TestSharedDomainGoesFirst(t *testing.T) {
	long := crowd(3)
	lackText(t, Panel(long, Options{Width: 50, Height: 24}), "compute.internal  old", "…-1.compute")
	wantText(t, Panel(long, Options{Width: 120, Height: 24}), "ip-10-0-0-0.eu-west-1.compute.internal  ")
	for name, nodes := range map[string][]noderoll.NodeView{
		"two domains": {old("a.x"), old("b.y")},
		"addresses":   {old("10.0.1.12"), old("11.0.1.12")},
		"no domain":   {old("a"), old("b")},
		"only domain": {old(".x"), old(".x")},
		"no name":     {old("")},
		"none":        nil,
	} {
		var shown []*noderoll.NodeView
		for i := range nodes {
			shown = append(shown, &nodes[i])
		}
		if got := sharedDomain(shown); got != "" {
			t.Errorf("%s: got %q, want none", name, got)
		}
	}
}

func BenchmarkPanel(b *testing.B) {
	for name, f := range map[string]Frame{"nodes=3": demoFrames()[8], "nodes=5000": crowd(5000)} {
		for _, o := range []Options{{Width: 80, Height: 24}, {Width: 120, Height: 40, Profile: TrueColor}} {
			b.Run(name+"/"+o.Profile.String(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Panel(f, o)
				}
			})
		}
	}
}
