package analysis

import (
	"fmt"

	"github.com/nodesim/nodesim/timeline"
)

// Evaluated reads a tape and evaluates the graph of each of its rolls with the lags of the tape: every moment has to be where
// the tape has it.
func Evaluated(r *timeline.Reader, o Options) (*Analysis, error) {
	s, err := read(r, o)
	if err != nil {
		return nil, err
	}
	a := s.finish()
	for i := range a.Rolls {
		if a.Rolls[i].Pods != "" {
			continue
		}
		g := s.graph(&a.Rolls[i])
		for m, at := range g.evaluate(g.followers(), nil) {
			if v := &g.moments[m]; at != v.at.At || v.lag < 0 {
				return nil, fmt.Errorf("roll %d: moment %d (%d, of line %d) at %s after a lag of %s: want %s", i, m, v.what, v.at.Line, at, v.lag, v.at.At)
			}
		}
	}
	return a, nil
}
