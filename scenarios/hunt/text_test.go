package hunt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Of every scenario, cases are files that the checks take, and their texts make the same files again.
func TestCasesAreFiles(t *testing.T) {
	for _, s := range scenarios.All() {
		if s.Document == nil {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			for number := range uint64(8) {
				f := spaceOf(t, s).Case(7, number)
				text, err := hunt.Text(f)
				if err != nil {
					t.Fatal(err)
				}
				again, err := hunt.Read(text)
				if err != nil {
					t.Fatalf("case %d: %v\n%s", number, err, text)
				}
				if diff := cmp.Diff(f, again); diff != "" {
					t.Fatalf("case %d: %s\n%s", number, diff, text)
				}
			}
		})
	}
}

// spaceOf are the cases of a scenario, with its parameters.
func spaceOf(t testing.TB, s scenarios.Scenario) *variant.Space {
	t.Helper()
	f, err := s.Document.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return variant.NewSpace(variant.Config{
		File: &f.File, Parameters: s.Document.Parameters, Seed: 7,
		Resolve: func(set []spec.Setting) (*spec.File, error) {
			f, err := s.Document.Resolve(set, nil)
			if err != nil {
				return nil, err
			}
			return &f.File, nil
		},
	})
}

// The same number is the same case.
func TestCasesAreTheSame(t *testing.T) {
	s, err := scenarios.Find("karpenter-spot")
	if err != nil {
		t.Fatal(err)
	}
	a, b := spaceOf(t, s), spaceOf(t, s)
	seen := map[uint64]bool{}
	for number := range uint64(50) {
		f := a.Case(7, number)
		if diff := cmp.Diff(f, b.Case(7, number)); diff != "" {
			t.Fatalf("case %d: %s", number, diff)
		}
		seen[f.Seed] = true
	}
	if len(seen) < 45 {
		t.Errorf("50 cases have %d seeds", len(seen))
	}
}

// shipped is the file of a scenario.
func shipped(t testing.TB, name string) *spec.File {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Document.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &f.File
}
