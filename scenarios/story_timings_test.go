package scenarios_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/model"
	filespec "github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// notShown are timings of what happens in no scenario that comes along.
var notShown = map[string]string{
	"shutdownGraceCritical":        "no shutdown takes as long as the critical pods' part",
	"containerReady":               "every workload says how long its pods take to be ready",
	"appStop":                      "every workload says how long its containers take to stop",
	"startupGrace":                 "every node posts a status",
	"evictionTaintIntervalPartial": "no zone of more than 50 nodes is lost",
	"autoscalerIdle":               "no cluster with an autoscaler gets smaller",
}

// Each timing that a file may give changes the tape of some scenario: one that nothing reads would be taken without a word, and ignored.
func TestEachTimingIsRead(t *testing.T) {
	t.Parallel()
	for _, timing := range model.TimingNames() {
		if notShown[timing.Name] == "" && !changesATape(t, filespec.Timing{Name: timing.Name, Dist: filespec.Dist{Kind: filespec.DistFixed, Median: 7 * time.Second}}) {
			t.Errorf("%s: no scenario has another tape with 7s: want the simulation to read it, or no timing of that name", timing.Name)
		}
	}
}

var errDiffers = errors.New("the tape differs")

// expected is what is still to be written; anything else is errDiffers.
type expected []byte

func (e *expected) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(*e, p) {
		return 0, errDiffers
	}
	*e = (*e)[len(p):]
	return len(p), nil
}

func changesATape(t *testing.T, timing filespec.Timing) bool {
	for _, s := range simulatedScenarios() {
		f, err := s.Document.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Timings = append(f.Timings[:len(f.Timings):len(f.Timings)], timing)
		usual := tapeOf(t, s.Name)
		is := expected(usual.text)
		w, err := timeline.NewWriter(&is, usual.header)
		if err != nil {
			t.Fatal(err)
		}
		sim, err := f.Simulate(w.WriteLine)
		if err != nil {
			t.Fatal(err)
		}
		switch err := sim.Run(); {
		case errors.Is(err, errDiffers) || err == nil && len(is) > 0:
			return true
		case err != nil:
			t.Fatalf("scenario %s with %s: %v", s.Name, timing.Name, err)
		}
	}
	return false
}
