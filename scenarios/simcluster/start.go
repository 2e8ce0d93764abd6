package simcluster

import (
	"cmp"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Start is what a cluster begins with: [Scenario], [File], [Groups] or [Tape], perhaps [AtRest].
type Start struct {
	file   func() (*scenarios.File, error)
	moment func() (scenarios.Moment, error) // in place of a file
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

// Groups starts with a cluster that has groups of nodes and no workload but the
// provider's own agents. What is zero has the default that it has in a scenario
// file, such as the zones, the instance type and the Kubernetes version; the
// cluster's provider is EKS then.
func Groups(cluster spec.Cluster, groups ...spec.Group) Start {
	return Start{file: func() (*scenarios.File, error) {
		cluster.Provider = cmp.Or(cluster.Provider, spec.ProviderEKS)
		f, err := spec.Bare(spec.Metadata{Name: "groups", Title: "groups of nodes"}, cluster, groups)
		if err != nil {
			return nil, err
		}
		return &scenarios.File{File: *f}, nil
	}}
}

// AtRest leaves out the scenario's roll and its faults: nothing happens but what
// clients bring about.
func AtRest(s Start) Start {
	s.atRest = true
	return s
}

// Engine makes the simulation, for who serves it otherwise than [New].
func (s Start) Engine() (*scenarios.Acting, error) {
	if s.moment != nil {
		m, err := s.moment()
		if err != nil {
			return nil, err
		}
		return scenarios.ActOn(m)
	}
	if s.file == nil {
		return nil, fmt.Errorf("found an empty start: want simcluster.Scenario, File, Groups or Tape")
	}
	f, err := s.file()
	if err != nil {
		return nil, err
	}
	if now, is := bubble(); is {
		f = &scenarios.File{File: f.File}
		f.Start = now
	}
	return f.Act(scenarios.ActConfig{AtRest: s.atRest})
}

// bubble returns the time of the testing/synctest bubble that runs this, and
// whether there is one: its clock begins at midnight UTC on 1 January 2000.
func bubble() (time.Time, bool) {
	now := time.Now().UTC()
	return now, now.Year() < 2010
}
