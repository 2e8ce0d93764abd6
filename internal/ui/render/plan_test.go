package render

import "testing"

// lines is the number of lines a plan fills, with every gap that it has.
func (p plan) lines() int {
	n := 0
	for _, on := range []bool{p.title, p.images, p.progress, p.status} {
		if on {
			n++
		}
	}
	for _, rows := range []int{p.nodes, p.events, p.warnings} {
		if rows > 0 {
			n += 1 + rows
		}
	}
	for _, gap := range []bool{p.gaps.nodes, p.gaps.events, p.gaps.warnings, p.gaps.status} {
		if gap {
			n++
		}
	}
	return n + p.filler
}

func TestPlansFillAndNeverExceedTheHeight(t *testing.T) {
	sizes := []int{0, 1, 2, 5, 40}
	for height := range 60 {
		for _, nodes := range sizes {
			for _, events := range sizes {
				for _, warnings := range sizes {
					for _, fill := range []bool{false, true} {
						w := wants{images: true, nodes: nodes, events: events, warnings: warnings, fill: fill}
						p := planFor(w, height)
						switch got := p.lines(); {
						case got > height:
							t.Fatalf("%+v in %d lines: %+v takes %d", w, height, p, got)
						case fill && height > 0 && p.status && got != height:
							t.Fatalf("%+v in %d lines: %+v fills %d", w, height, p, got)
						case p.nodes > nodes || p.events > events || p.warnings > warnings:
							t.Fatalf("%+v in %d lines: %+v gives more than is wanted", w, height, p)
						}
					}
				}
			}
		}
	}
}

// More height never takes a row away from a section.
func TestPlansGrow(t *testing.T) {
	w := wants{images: true, nodes: 30, events: 30, warnings: 30}
	before := planFor(w, 0)
	for height := 1; height < 120; height++ {
		p := planFor(w, height)
		if p.nodes < before.nodes || p.events < before.events || p.warnings < before.warnings {
			t.Errorf("%d lines give %+v, one less gave %+v", height, p, before)
		}
		before = p
	}
	if before.nodes != 30 || before.events != 30 || before.warnings != 30 {
		t.Errorf("with room for all: got %+v", before)
	}
}

func TestTheFirstLineIsTheProgress(t *testing.T) {
	if p := planFor(wants{images: true, nodes: 9, events: 9, warnings: 9}, 1); !p.progress || p.lines() != 1 {
		t.Errorf("got %+v, want the progress alone", p)
	}
}
