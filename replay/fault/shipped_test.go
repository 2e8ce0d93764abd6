package fault_test

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios"
)

// simulation plays a shipped scenario.
type simulation struct{ scenarios.Scenario }

func (s simulation) Open() (replay.Stream, error) { return s.Scenario.Open(nil, nil) }

// The ready-made patterns find something to do on every tape that we ship,
// without a parameter.
func TestSieveOnEveryScenario(t *testing.T) {
	for _, s := range scenarios.All() {
		for _, kind := range []string{"stale", "unobserved", "intermediate"} {
			fired := 0
			p, err := replay.NewPlayer(simulation{s}, fault.InjectAndLog(func(f fault.Fired) {
				if !strings.Contains(f.String(), "fault "+kind+"  ") {
					t.Errorf("%s: %s", s.Name, f)
				}
				fired++
			}, kind))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Seek(t.Context(), replay.End); err != nil {
				t.Error(err)
			}
			if fired == 0 {
				t.Errorf("%s: %s never fires", s.Name, kind)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
