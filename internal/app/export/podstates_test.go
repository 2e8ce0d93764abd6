package export_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/app/export"
	"github.com/nodesim/nodesim/replay/analysis"
)

// The states of pods are those that the tape shows.
func TestStatesOfPods(t *testing.T) {
	at := func(s int) *analysis.Moment { return &analysis.Moment{At: time.Duration(s) * time.Second, Line: s} }
	for name, c := range map[string]struct {
		pod  analysis.Pod
		want []string
	}{
		"there from the start":   {analysis.Pod{Node: "a"}, []string{"on a node"}},
		"and goes":               {analysis.Pod{Node: "a", Deleted: at(5), Gone: at(9)}, []string{"on a node", "terminating"}},
		"and gets Ready":         {analysis.Pod{Node: "a", Ready: at(5)}, []string{"starting", "running"}},
		"without a node":         {analysis.Pod{}, []string{"pending"}},
		"all of a life":          {analysis.Pod{Node: "a", Created: at(1), Scheduled: at(2), Ready: at(3), Deleted: at(4), Gone: at(5)}, []string{"pending", "starting", "running", "terminating"}},
		"never Ready":            {analysis.Pod{Node: "a", Created: at(1), Scheduled: at(2)}, []string{"pending", "starting"}},
		"created with its node":  {analysis.Pod{Node: "a", Created: at(1)}, []string{"on a node"}},
		"and Ready at some time": {analysis.Pod{Node: "a", Created: at(1), Ready: at(3)}, []string{"starting", "running"}},
	} {
		a := &analysis.Analysis{Pods: []analysis.Pod{c.pod}}
		a.Tape.Start, a.Tape.Duration = time.Unix(1, 0), time.Minute
		var got []string
		for _, s := range readPerfetto(t, write(t, a, export.Perfetto, "")).slices(t) {
			if s.category == "pod" {
				got = append(got, s.name)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}
