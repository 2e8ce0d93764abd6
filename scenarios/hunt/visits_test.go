package hunt

import (
	"maps"
	"testing"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
)

// The tape of a case tells the same of what it has visited as its simulation.
func TestATapeTellsWhatWasVisited(t *testing.T) {
	s, err := scenarios.Find("surge")
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Document.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	space := variant.NewSpace(variant.Config{File: &f.File, Seed: 7})
	began := map[string]bool{}
	for number := range uint64(8) {
		marked := variant.Marked(space.Case(7, number))
		want, err := judge(t.Context(), marked, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got Outcome
		if err := got.Visit(marked, (&scenarios.File{File: *marked}).Source()); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got.visited, want.visited) || got.strategy != want.strategy || got.Simulated != want.Simulated {
			t.Errorf("case %d: the tape tells of %v with %s in %s, the simulation of %v with %s in %s",
				number, got.visited, got.strategy, got.Simulated, want.visited, want.strategy, want.Simulated)
		}
		for action := range want.visited {
			began[action] = true
		}
	}
	if len(began) < 3 {
		t.Errorf("found the faults %v in eight cases, want some", began)
	}
}
