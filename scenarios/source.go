package scenarios

import (
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// Source is the tape of a shipped scenario, simulated as it is read and again
// each time that it is opened: the same settings give the same tape, byte for
// byte. A name or a setting that isn't known is an error of Open.
//
//	client, err := fakeclient.New(scenarios.Source("surge", scenarios.Setting{Name: "nodes", Value: "12"}))
func Source(name string, set ...spec.Setting) timeline.Source {
	return opener(func() (*timeline.Reader, error) {
		found, err := Find(name)
		if err != nil {
			return nil, err
		}
		return found.Open(set, nil)
	})
}

// Source is the tape of the scenario with other settings and, if it isn't nil,
// another seed.
func (s Scenario) Source(set []spec.Setting, seed *uint64) timeline.Source {
	return opener(func() (*timeline.Reader, error) { return s.Open(set, seed) })
}

// Source is the tape of a scenario file.
func (f *File) Source() timeline.Source {
	return opener(func() (*timeline.Reader, error) { return f.Open() })
}

type opener func() (*timeline.Reader, error)

func (open opener) Open() (timeline.Stream, error) {
	r, err := open()
	if err != nil {
		return nil, err // not a *timeline.Reader that is nil
	}
	return r, nil
}
