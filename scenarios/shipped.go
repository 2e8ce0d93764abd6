package scenarios

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nodesim/nodesim/timeline"
)

// A Scenario is a named tape.
type Scenario struct {
	Name string
	// About is one line for people who choose.
	About string
	// Tape makes the tape anew: its header and all of its events but END.
	Tape func() (timeline.Header, []timeline.Event)
}

// All returns the shipped scenarios in the order of their names.
func All() []Scenario {
	return []Scenario{
		{Name: "demo", About: "three old nodes are replaced by three new ones, one at a time", Tape: Demo},
	}
}

// Find returns the scenario of a name. The error names those that there are.
func Find(name string) (Scenario, error) {
	var names []string
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scenario{}, fmt.Errorf("scenario %q: want %s", name, strings.Join(names, ", "))
}

// Write writes the whole tape to w, END included.
func (s Scenario) Write(w *timeline.Writer) error {
	_, events := s.Tape()
	for _, ev := range events {
		if err := w.Write(ev); err != nil {
			return err
		}
	}
	end := timeline.Event{Type: timeline.End}
	if len(events) > 0 {
		end.At = events[len(events)-1].At
	}
	return w.Write(end)
}

// Open makes the tape of a scenario and opens it for reading.
func Open(name string, opts ...timeline.ReadOption) (*timeline.Reader, error) {
	s, err := Find(name)
	if err != nil {
		return nil, err
	}
	header, _ := s.Tape()
	var tape bytes.Buffer
	w, err := timeline.NewWriter(&tape, header)
	if err != nil {
		return nil, err
	}
	if err := s.Write(w); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return timeline.NewReader(&tape, append([]timeline.ReadOption{timeline.Name("scenario " + name)}, opts...)...)
}
