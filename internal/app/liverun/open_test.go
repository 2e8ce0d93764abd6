package liverun

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// discard shows nothing of a tape.
func discard(h *timeline.Header) (*ui.Driver, error) {
	viewOptions, err := observe.OptionsFor(h, "", "", "")
	if err != nil {
		return nil, err
	}
	d := ui.NewDriver(ui.NewView(h, viewOptions), nil)
	d.View.FeedOnly = true
	return d, nil
}

func server(t *testing.T) *rest.Config {
	t.Helper()
	p, err := replay.NewPlayer(replay.File("../../../cmd/nodesim/app/testdata/tapes/demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := apiserver.New(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		_ = p.Close() // of a file that was read
	})
	return s.RESTConfig()
}

func watched(t *testing.T, tape string) *viewer {
	t.Helper()
	return &viewer{o: Options{
		REST: server(t), File: &scenarios.File{File: spec.File{}}, Tape: tape, Driver: discard,
		Warn: func(text string) { t.Log(text) }, Say: func(text string) { t.Log(text) },
	}}
}

// A tape that can't be made is an error before the scenario begins, and is told once.
func TestTapeThatCannotBeMade(t *testing.T) {
	v := watched(t, filepath.Join(t.TempDir(), "none", "x.yaml"))
	err := v.open(t.Context())
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v, want that the folder isn't there", err)
	}
	if err := v.close(); err != nil {
		t.Errorf("close tells it again: %v", err)
	}
}

// A recording continues when the live run's context ends, and ends with close.
func TestRecordsUntilClosed(t *testing.T) {
	tape := filepath.Join(t.TempDir(), "x.yaml")
	v := watched(t, tape)
	ctx, end := context.WithCancel(t.Context())
	if err := v.open(ctx); err != nil {
		t.Fatal(err)
	}
	end()
	v.mark("complete", "all is new")
	if err := v.close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(tape); err != nil || len(text) == 0 {
		t.Fatalf("the tape: %v, %d bytes", err, len(text))
	}
	r, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var last timeline.Event
	marked := false
	for ev, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		marked = marked || ev.Type == timeline.Mark && ev.Name == "complete"
		last = ev
	}
	if !marked {
		t.Error("the tape lacks the mark that was set when the context had ended")
	}
	if v.shown == 0 || v.shown != last.At {
		t.Errorf("the report's moment is %v: want that of the tape's %s, %v", v.shown, last.Type, last.At)
	}
}

// Without anything to show or to record, nothing is watched.
func TestNothingToShow(t *testing.T) {
	v := watched(t, "")
	v.o.Driver, v.o.REST = nil, nil // a recorder would need one
	if err := v.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.mark("complete", "all is new")
	v.progress(live.Progress{Phase: live.Leaving})
	if err := v.close(); err != nil {
		t.Fatal(err)
	}
}
