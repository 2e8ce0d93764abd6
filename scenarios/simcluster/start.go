package simcluster

import (
	"fmt"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios"
)

// Start is what a cluster begins with: [Scenario] or [File], perhaps [AtRest].
type Start struct {
	file   func() (*scenarios.File, error)
	atRest bool
}

// Scenario starts with the cluster of a shipped scenario, whose roll and faults
// happen.
func Scenario(name string, set ...scenarios.Setting) Start {
	return Start{file: func() (*scenarios.File, error) {
		s, err := scenarios.Find(name)
		if err != nil {
			return nil, err
		}
		if s.Document == nil {
			return nil, fmt.Errorf("scenario %s: it is a tape and has no cluster: want another one, such as surge", name)
		}
		return s.Document.Resolve(set, nil)
	}}
}

// File starts with the cluster of a scenario file, whose roll and faults happen.
func File(f *scenarios.File) Start {
	return Start{file: func() (*scenarios.File, error) { return f, nil }}
}

// AtRest leaves out the scenario's roll and its faults: nothing happens but what
// clients bring about.
func AtRest(s Start) Start {
	s.atRest = true
	return s
}

// engine makes the simulation.
func (s Start) engine() (replay.Engine, error) {
	if s.file == nil {
		return nil, fmt.Errorf("found an empty start: want simcluster.Scenario or simcluster.File")
	}
	f, err := s.file()
	if err != nil {
		return nil, err
	}
	return f.Act(scenarios.ActConfig{AtRest: s.atRest})
}
