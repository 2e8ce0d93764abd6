package inspect_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/timeline"
)

// The rolls of pods on the tapes that are written by hand, read as lines, with
// patches, and as objects.
func TestPodRolls(t *testing.T) {
	tapes, err := filepath.Glob("../../../examples/testdata/inplace-*.yaml")
	if err != nil || len(tapes) == 0 {
		t.Fatalf("no tapes: %v", err)
	}
	for _, name := range tapes {
		var texts []string
		for _, opts := range [][]timeline.ReadOption{{timeline.Lines()}, nil} {
			r, err := timeline.Open(name, opts...)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := inspect.Tape(r)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text(t, rep)+indent(t, rep.JSON())+"\n")
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: by lines\n%s\nby objects\n%s", name, texts[0], texts[1])
		}
		golden.Assert(t, strings.TrimSuffix(filepath.Base(name), ".yaml"), texts[0])
	}
}

// What pods are asked to be is on every tape; the invariants hold for those that
// people write as well.
func TestPodTapesObeyTheInvariants(t *testing.T) {
	tapes, _ := filepath.Glob("../../../examples/testdata/inplace-*.yaml") // a pattern that is well formed
	for _, name := range tapes {
		r, err := timeline.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := inspect.Check(r, invariant.CheckRecorded(r.Header().Metadata.Start.Time))
		if err != nil || len(rep.Violations) > 0 {
			t.Errorf("%s: %v, %v", name, err, rep.Violations)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
