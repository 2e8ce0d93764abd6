package watch

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// A story that looks after each event of a tape, and once a second, tells what the
// tape's feed tells, and its panel shows the progress and the blocked drains of replay.
func TestStoryEqualsReplay(t *testing.T) {
	tapes := map[string]timeline.Source{}
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tapes: %v", err)
	}
	for _, file := range files {
		tapes[filepath.Base(file)] = timeline.File(file)
	}
	for _, name := range []string{"surge", "stuck-drain", "minimal", "spot-loss", "gke-surge"} {
		tapes[name] = scenarios.Source(name)
	}
	told := map[noderoll.EventKind]int{}
	for name, src := range tapes {
		r, err := src.Open()
		if err != nil {
			t.Fatal(err)
		}
		o, err := observe.OptionsFor(r.Header(), "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		view, s, from := ui.NewView(r.Header(), o), newStory(), time.Duration(0)
		follower := observe.New(r.Header(), o)
		var want, got []string
		note := func(lines *[]string, es []noderoll.Entry) {
			for _, e := range es {
				if e.Kind.Default() && e.Kind != noderoll.EvtMark && e.Kind != noderoll.EvtFailed {
					*lines = append(*lines, fmt.Sprintf("%s %s %s", e.Kind, e.Node, e.Object))
				}
			}
		}
		look := func() {
			snapshot, err := follower.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(snapshot.Nodes) == 0 && s.last.Nodes == nil {
				return // the first list
			}
			entries := s.look(follower.At(), snapshot)
			note(&got, entries)
			for _, e := range entries {
				told[e.Kind]++
			}
		}
		pass := func(to time.Duration) {
			for ; from < to; from += time.Second {
				note(&want, view.Advance(from))
				follower.Advance(from)
				look()
			}
		}
		for {
			ev, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			pass(ev.At)
			entries, err := view.Apply(ev)
			if err != nil {
				t.Fatal(err)
			}
			note(&want, entries)
			if _, err := follower.Apply(ev); err != nil {
				t.Fatal(err)
			}
			if follower.At() > 0 {
				look()
			}
		}
		_ = r.Close() // it was only read
		pass(from + noderoll.StillAfter)
		byNode := func(a, b string) int { // several of one look have another order
			return cmp.Compare(strings.Split(a, " ")[1], strings.Split(b, " ")[1])
		}
		slices.SortStableFunc(want, byNode)
		slices.SortStableFunc(got, byNode)
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("%s (-replay +watch):\n%s", name, d)
		}
		frame := view.Frame()
		live := render.Frame{Snapshot: frame.Snapshot}
		s.fill(&live)
		if live.Desired != frame.Desired || live.Rolling != frame.Rolling || !gocmp.Equal(live.Blocked, frame.Blocked) ||
			live.FromImage != frame.FromImage || live.ToImage != frame.ToImage {
			t.Errorf("%s: the panel has %d to replace, rolling %t, blocked %v, %s to %s; replay's %d, %t, %v, %s to %s", name,
				live.Desired, live.Rolling, live.Blocked, live.FromImage, live.ToImage,
				frame.Desired, frame.Rolling, frame.Blocked, frame.FromImage, frame.ToImage)
		}
	}
	for _, kind := range []noderoll.EventKind{
		noderoll.EvtCordoned, noderoll.EvtDraining, noderoll.EvtBlocked, noderoll.EvtUnblocked, noderoll.EvtComplete, noderoll.EvtTerminated,
	} {
		if told[kind] == 0 {
			t.Errorf("no tape has shown %s", kind)
		}
	}
}
