package scenarios_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// A story is what a tape tells, in the order in which it tells it: the lives of
// nodes and pods, the events, the budgets. The tests of the scenarios say by hand
// what has to stand in it.
type story struct {
	t        testing.TB
	title    string // the scenario's name and settings, for messages
	header   timeline.Header
	nodes    []*nodeLife
	pods     []*podLife
	events   []*eventLife
	budgets  []*budgetLife
	marks    []timeline.Event
	outcomes []string // of the rolls that have ended; empty for one that was completed
	end      time.Duration

	feed   bytes.Buffer
	view   *ui.View
	entry  []noderoll.Entry
	panels []panel
	byUID  map[string]any
}

// A panel is what a terminal shows when a moment is over that has changed
// something.
type panel struct {
	at   time.Duration
	text string
}

// tell simulates a scenario with settings like "force=true", and reads its tape.
func tell(t testing.TB, name string, settings ...string) *story {
	t.Helper()
	made := tapeOf(t, name, settings...)
	s := &story{
		t: t, title: strings.Join(append([]string{name}, settings...), " "), header: made.header,
		outcomes: made.outcomes, byUID: map[string]any{},
	}
	if err := s.read(made.text); err != nil {
		t.Fatalf("%s: %v", s.title, err)
	}
	return s
}

// A madeTape is a tape, its marks and its end, and how its rolls ended.
type madeTape struct {
	header   timeline.Header
	text     []byte
	marks    []timeline.Event
	end      time.Duration
	outcomes []string
}

var (
	madeLock sync.Mutex
	made     = map[string]func() (madeTape, error){}
)

// tapeOf simulates a scenario once in a run of the tests.
func tapeOf(t testing.TB, name string, settings ...string) madeTape {
	t.Helper()
	key := strings.Join(append([]string{name}, settings...), " ")
	madeLock.Lock()
	one := made[key]
	if one == nil {
		one = sync.OnceValues(func() (madeTape, error) { return makeTape(name, settings) })
		made[key] = one
	}
	madeLock.Unlock()
	tape, err := one()
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

func makeTape(name string, settings []string) (m madeTape, err error) {
	s, err := scenarios.Find(name)
	if err != nil {
		return m, err
	}
	var set []scenarios.Setting
	for _, text := range settings {
		key, value, _ := strings.Cut(text, "=")
		set = append(set, scenarios.Setting{Name: key, Value: value})
	}
	f, err := s.Document.Resolve(set, nil)
	if err != nil {
		return m, err
	}
	m.header = f.Header()
	var text bytes.Buffer
	w, err := timeline.NewWriter(&text, m.header)
	if err != nil {
		return m, err
	}
	sim, err := f.Simulate(func(ev timeline.Event) error {
		if ev.Type == timeline.Mark {
			m.marks = append(m.marks, ev)
		}
		m.end = ev.At
		return w.WriteLine(ev)
	})
	if err != nil {
		return m, err
	}
	if err := sim.Run(); err != nil {
		return m, err
	}
	m.text, m.outcomes = text.Bytes(), sim.Outcomes()
	return m, nil
}

// read notes what a tape tells, as `nodesim replay` and `nodesim test` read it.
func (s *story) read(text []byte) error {
	r, err := timeline.NewReader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		return err
	}
	s.view = ui.NewView(r.Header(), o)
	lines := ui.NewFeedWriter(&s.feed)
	driver := ui.NewDriver(s.view, &listener{s, lines})
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := driver.Event(ev); err != nil {
			return err
		}
		if err := s.note(ev); err != nil {
			return fmt.Errorf("at %s: %s %s/%s: %w", ev.At, ev.Resource, ev.Namespace, ev.Name, err)
		}
		s.end = ev.At
	}
	if err := errors.Join(driver.End(), lines.Flush()); err != nil {
		return err
	}
	if !r.Complete() {
		return fmt.Errorf("the tape isn't complete: %s", r.Torn())
	}
	return nil
}

// A listener takes what a tape shows.
type listener struct {
	story *story
	lines *ui.FeedWriter
}

func (l *listener) Entries(entries []noderoll.Entry) error {
	l.story.entry = append(l.story.entry, entries...)
	return l.lines.Entries(entries)
}

func (l *listener) Moment(v *ui.View) error {
	f := v.Frame()
	l.story.panels = append(l.story.panels, panel{f.Position, render.Panel(f, render.Options{Width: 80, Height: 24})})
	return nil
}

// golden holds the feed, and the panels of the moments that are told, against
// golden files: the text that `nodesim replay` prints, and plain 80 by 24.
// Without a moment it is the panel of the last one.
func (s *story) golden(moments ...time.Duration) {
	s.t.Helper()
	name := strings.NewReplacer(" ", ",").Replace(s.title)
	golden.Assert(s.t, "stories/"+name+".feed", s.feed.String())
	if len(s.panels) == 0 {
		s.t.Fatalf("%s: panels: found none, want one for each moment that shows something", s.title)
	}
	if len(moments) == 0 {
		moments = []time.Duration{s.end}
	}
	var text strings.Builder
	for _, at := range moments {
		p := s.panels[0]
		for _, later := range s.panels {
			if later.at <= at {
				p = later
			}
		}
		fmt.Fprintf(&text, "=== %s\n%s\n", noderoll.AppendStamp(nil, p.at), p.text)
	}
	golden.Assert(s.t, "stories/"+name+".panel", text.String())
}
