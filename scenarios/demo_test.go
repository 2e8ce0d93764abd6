package scenarios_test

import (
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// moments reads a tape and returns the snapshot that stands when each of its
// moments is over.
func moments(t *testing.T, r *timeline.Reader, o observe.Options) []noderoll.Snapshot {
	t.Helper()
	f := observe.New(r.Header(), o)
	var all []noderoll.Snapshot
	look := func() {
		s, err := f.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s.Plain())
	}
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			look()
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.At > f.At() {
			look()
		}
		if _, err := f.Apply(ev); err != nil {
			t.Fatal(err)
		}
	}
}

// demoTimeline has the nodes of each frame by name, as observers do.
func demoTimeline() []noderoll.Snapshot {
	frames := noderoll.DemoTimeline()
	for i := range frames {
		frames[i].Tally()
	}
	return frames
}

func TestDemoShowsDemoTimeline(t *testing.T) {
	for _, target := range []string{"", "ami-0f9e8d7c6b5a43210"} {
		r, err := scenarios.Open("demo")
		if err != nil {
			t.Fatal(err)
		}
		o, err := observe.OptionsFor(r.Header(), "", "", target)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(demoTimeline(), moments(t, r, o)); diff != "" {
			t.Errorf("target %q: the demo's snapshots differ from DemoTimeline (-want +got):\n%s", target, diff)
		}
		if !r.Complete() {
			t.Errorf("the demo's tape is not complete: %q", r.Torn())
		}
	}
}

func TestDemoByBaseline(t *testing.T) {
	r, err := scenarios.Open("demo")
	if err != nil {
		t.Fatal(err)
	}
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	// The nodes of the first SYNC are the old ones.
	_, events := scenarios.Demo()
	for _, ev := range events {
		if ev.Type == timeline.Sync {
			break
		}
		o.Target.Baseline = append(o.Target.Baseline, ev.UID)
	}
	if diff := cmp.Diff(demoTimeline(), moments(t, r, o)); diff != "" {
		t.Errorf("the demo's snapshots differ from DemoTimeline (-want +got):\n%s", diff)
	}
}

func TestFindNamesTheScenarios(t *testing.T) {
	_, err := scenarios.Find("dmeo")
	if err == nil || err.Error() != `scenario "dmeo": there is none of that name: did you mean demo?` {
		t.Errorf("got %v", err)
	}
}
