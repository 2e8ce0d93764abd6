package plan

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios"
)

// Sample returns the file of the run that stands for the others, to be simulated again.
func (p *Plan) Sample(f *scenarios.File, o Options, which Which) (*scenarios.File, error) {
	file, err := Prepare(f, o)
	if err != nil {
		return nil, err
	}
	s, ok := p.Samples[which]
	if !ok {
		return nil, fmt.Errorf("plan: run %q: want %s or %s", which, Median, Worst)
	}
	file.Seed = s.Seed
	return file, nil
}
