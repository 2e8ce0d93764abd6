package scenarios

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

//go:embed shipped/*.yaml
var shippedFiles embed.FS

// first are the scenarios that a list begins with; the others follow by name.
var first = []string{"surge", "spot-loss", "stuck-drain"}

// A Scenario is a named story: one of the shipped files, or the demo.
type Scenario struct {
	Name string
	// About is one line for people who choose.
	About string
	// Document is the scenario's file. The demo has none.
	Document *Document
}

// All returns the shipped scenarios: those that most people want first, then the
// others by their names. The slice is the caller's; their documents are shared.
func All() []Scenario {
	var all []Scenario
	for _, s := range shipped() {
		// A test parses each of them; a program with a broken one still has the
		// others.
		if one, err := s.parsed(); err == nil {
			all = append(all, one)
		}
	}
	return all
}

// A shippedOne is a shipped scenario, which is parsed when it is first asked for:
// most programs need one of them.
type shippedOne struct {
	name   string
	parsed func() (Scenario, error)
}

var shipped = sync.OnceValue(func() []shippedOne {
	demo := Scenario{Name: "demo", About: "three old nodes are replaced by three new ones, one at a time, in thirty seconds"}
	all := []shippedOne{{demo.Name, func() (Scenario, error) { return demo, nil }}}
	files, err := shippedFiles.ReadDir("shipped")
	if err != nil {
		return all
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".yaml")
		all = append(all, shippedOne{name, sync.OnceValues(func() (Scenario, error) { return parseShipped(name) })})
	}
	slices.SortStableFunc(all, func(a, b shippedOne) int {
		return cmp.Or(rank(a.name)-rank(b.name), strings.Compare(a.name, b.name))
	})
	return all
})

func parseShipped(name string) (Scenario, error) {
	data, err := shippedFiles.ReadFile("shipped/" + name + ".yaml")
	if err != nil {
		return Scenario{}, err
	}
	d, err := Parse("scenario "+name, data)
	if err != nil {
		return Scenario{}, err
	}
	return Scenario{Name: d.Metadata.Name, About: d.Metadata.Title, Document: d}, nil
}

func rank(name string) int {
	if i := slices.Index(first, name); i >= 0 {
		return i
	}
	return len(first)
}

// Find returns the scenario of a name. The error suggests one.
func Find(name string) (Scenario, error) {
	var names []string
	for _, s := range shipped() {
		if s.name == name {
			return s.parsed()
		}
		names = append(names, s.name)
	}
	if near := phrase.Closest(name, names); near != "" {
		return Scenario{}, fmt.Errorf("scenario %q: there is none of that name: did you mean %s?", name, near)
	}
	return Scenario{}, fmt.Errorf("scenario %q: want one of %s", name, strings.Join(names, ", "))
}

// Open makes the tape of a shipped scenario as it is read, with its parameters'
// defaults.
func Open(name string, opts ...timeline.ReadOption) (*timeline.Reader, error) {
	s, err := Find(name)
	if err != nil {
		return nil, err
	}
	return s.Open(nil, nil, opts...)
}

// Open makes the tape of the scenario as it is read: the simulation continues as far as the reader asks.
func (s Scenario) Open(set []spec.Setting, seed *uint64, opts ...timeline.ReadOption) (*timeline.Reader, error) {
	opts = append([]timeline.ReadOption{timeline.Name("scenario " + s.Name)}, opts...)
	if s.Document == nil {
		if err := s.fixed(set, seed); err != nil {
			return nil, err
		}
		var tape bytes.Buffer
		header, _ := Demo()
		w, err := timeline.NewWriter(&tape, header)
		if err != nil {
			return nil, err
		}
		if err := writeDemo(w); err != nil {
			return nil, err
		}
		return timeline.NewReader(&tape, opts...)
	}
	f, err := s.Document.Resolve(set, seed)
	if err != nil {
		return nil, err
	}
	return f.Open(opts...)
}

// fixed refuses to change what is no simulation.
func (s Scenario) fixed(set []spec.Setting, seed *uint64) error {
	if len(set) > 0 || seed != nil {
		return fmt.Errorf("scenario %s: it is always the same: want no settings and no seed", s.Name)
	}
	return nil
}

// Header returns the header of the scenario's tape.
func (s Scenario) Header() (timeline.Header, error) {
	if s.Document == nil {
		h, _ := Demo()
		return h, nil
	}
	f, err := s.Document.Resolve(nil, nil)
	if err != nil {
		return timeline.Header{}, err
	}
	return f.Header(), nil
}

// Write writes the whole tape to w, END included. The Writer was made with the
// scenario's Header.
func (s Scenario) Write(w *timeline.Writer) error {
	if s.Document == nil {
		return writeDemo(w)
	}
	f, err := s.Document.Resolve(nil, nil)
	if err != nil {
		return err
	}
	sim, err := f.Simulate(w.WriteLine)
	if err != nil {
		return err
	}
	return sim.Run()
}

func writeDemo(w *timeline.Writer) error {
	_, events := Demo()
	for _, ev := range events {
		if err := w.Write(ev); err != nil {
			return err
		}
	}
	return w.Write(timeline.Event{Type: timeline.End, At: events[len(events)-1].At})
}

// Open simulates the file as its tape is read. Nothing is kept of what was read
// but the objects that are alive.
func (f *File) Open(opts ...timeline.ReadOption) (*timeline.Reader, error) {
	t := &tape{}
	w, err := timeline.NewWriter(&t.text, f.Header())
	if err != nil {
		return nil, err
	}
	if t.sim, err = f.Simulate(w.WriteLine); err != nil {
		return nil, err
	}
	return timeline.NewReader(t, append([]timeline.ReadOption{timeline.Name("scenario " + f.Metadata.Name), timeline.Closing(t)}, opts...)...)
}

// Close ends a simulation whose tape isn't read to its end.
func (t *tape) Close() error {
	t.sim.Close()
	t.ended = true
	return nil
}

// tape is the text of a tape that is simulated as far as it is read.
type tape struct {
	sim   *Simulation
	text  bytes.Buffer
	ended bool
}

func (t *tape) Read(p []byte) (int, error) {
	for t.text.Len() == 0 {
		if t.ended {
			return 0, io.EOF
		}
		var err error
		if t.ended, err = t.sim.Step(readStep); err != nil {
			return 0, err
		}
	}
	return t.text.Read(p)
}
