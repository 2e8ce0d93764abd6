package scheduler

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/scenarios/internal/component"
)

func TestNaturalLog(t *testing.T) {
	for n := 1; n < 20_000; n += 1 + n/50 {
		got := float64(naturalLog(n)) / (1 << logBits)
		if want := math.Log(float64(n)); math.Abs(got-want) > 3e-9 {
			t.Errorf("ln %d: got %.12f, want %.12f", n, got, want)
		}
		if coarse := float64(coarseLog(n)) / (1 << logBits); math.Abs(coarse-got) > 0.003 || coarse > got {
			t.Errorf("ln %d, coarse: got %.4f, want %.4f", n, coarse, got)
		}
	}
}

// The tree finds the place that a walk along all of them finds.
func TestRoomTreeAgainstAWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var tree roomTree
	var flat []component.Room
	some := func() component.Room {
		return component.Room{CPU: int64(r.IntN(8)), Memory: int64(r.IntN(8)), Pods: int64(r.IntN(4))}
	}
	for range 20_000 {
		switch r.IntN(10) {
		case 0:
			tree.grow(len(flat))
			tree.set(len(flat), some())
			flat = append(flat, tree.at(len(flat)))
		case 1, 2, 3:
			if len(flat) > 0 {
				i := r.IntN(len(flat))
				flat[i] = some()
				if r.IntN(5) == 0 {
					flat[i] = nothing
				}
				tree.set(i, flat[i])
			}
		default:
			need, from, want := some(), r.IntN(len(flat)+2), -1
			for i := from; i < len(flat) && want < 0; i++ {
				if flat[i].Holds(need) {
					want = i
				}
			}
			if got := tree.next(from, need); got != want {
				t.Fatalf("from %d of %d with room for %+v: got %d, want %d", from, len(flat), need, got, want)
			}
		}
	}
}

func TestANoteIsCut(t *testing.T) {
	if got := cutNote(strings.Repeat("x", 1024)); len(got) != 1024 || strings.HasSuffix(got, " ...") {
		t.Errorf("1024 characters fit, got %d", len(got))
	}
	if got := cutNote(strings.Repeat("x", 1025)); len(got) != 1024 || !strings.HasSuffix(got, "x ...") {
		t.Errorf("got %d characters ending in %q", len(got), got[len(got)-5:])
	}
}

// What is kept for pods that wait for their victims' room doesn't count where nodes are compared.
func TestKeptRoomIsNotScored(t *testing.T) {
	used, kept := component.Room{CPU: 1000, Memory: 1 << 30, Pods: 1}, component.Room{CPU: 2000, Memory: 1 << 20, Pods: 1}
	n := &schedNode{allocatable: component.Room{CPU: 4000, Memory: 4 << 30, Pods: 10}, used: used}
	c := &podClass{need: component.Room{CPU: 500, Memory: 1 << 30, Pods: 1}}
	want := balanceGained(n, c)
	n.used, n.kept = used.Plus(kept), kept
	if got := balanceGained(n, c); got != want {
		t.Errorf("with kept room %d, want %d as without", got, want)
	}
}
