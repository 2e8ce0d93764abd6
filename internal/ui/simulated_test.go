package ui_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// A simulation is opened as often as a viewer goes back, and is the same each time.
func TestSimulatedTapeIsOpenedAnew(t *testing.T) {
	opened := 0
	tape := ui.Simulated("spot-vanish", func(opts ...timeline.ReadOption) (*timeline.Reader, error) {
		opened++
		return scenarios.Open("spot-vanish", opts...)
	})
	first, second := through(t, tape, 0, time.Hour), through(t, tape, 0, time.Hour)
	if first != second || first == "" {
		t.Errorf("the second time it shows\n%s\nwant\n%s", second, first)
	}
	if opened != 2 {
		t.Errorf("opened %d times, want 2", opened)
	}
	if got := tape.Length(t.Context()); got != 12*time.Minute+20*time.Second {
		t.Errorf("length %s, want that of the scenario, 12m20s", got)
	}
}

// The length of a long simulation isn't worth simulating it twice.
func TestLengthOfALongSimulationIsUnknown(t *testing.T) {
	header, _ := scenarios.Demo()
	var text bytes.Buffer
	w, err := timeline.NewWriter(&text, header)
	if err != nil {
		t.Fatal(err)
	}
	for n := range ui.SimulatedLength {
		if err := w.Write(timeline.Event{At: time.Duration(n), Type: timeline.Mark, Name: "m"}); err != nil {
			t.Fatal(err)
		}
	}
	length := func() time.Duration {
		return ui.Simulated("long", func(opts ...timeline.ReadOption) (*timeline.Reader, error) {
			return timeline.NewReader(bytes.NewReader(text.Bytes()), opts...)
		}).Length(t.Context())
	}
	if got := length(); got != ui.SimulatedLength-1 {
		t.Errorf("length %s, want that of the last event", got)
	}
	if err := w.Write(timeline.Event{At: time.Hour, Type: timeline.Mark, Name: "one more"}); err != nil {
		t.Fatal(err)
	}
	if got := length(); got != 0 {
		t.Errorf("length %s, want none", got)
	}
}
