package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// long is a roll with so many heartbeats that a Player keeps keyframes.
func long(t *testing.T) (*timeline.Header, []timeline.Event) {
	t.Helper()
	var b strings.Builder
	b.WriteString("0s ADDED nodes a ready\n0s SYNC nodes\n0s SYNC pods\n5s ADDED nodes b image=ami-2\n15s MODIFIED nodes b image=ami-2 ready\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "%ds MODIFIED nodes a ready\n", 16+i)
	}
	b.WriteString("6000s MODIFIED nodes a ready cordoned\n6010s DELETED nodes a ready cordoned\n")
	r := script(t, b.String())
	var all []timeline.Event
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header(), all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ev)
	}
}

// Wherever a Player goes, a Follower that goes along is where one is that came
// straight from the beginning.
func TestFollowerGoesBackWithAPlayer(t *testing.T) {
	h, events := long(t)
	src := replay.Events(h, events)
	p, err := replay.NewPlayer(src)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	f := New(h, Options{})
	var failed error
	back := 0
	defer p.Subscribe(func(n replay.Note) {
		switch n.Kind {
		case replay.Rewound:
			back = max(back, n.Number)
			failed = errors.Join(failed, f.Rewind(src, n.Number))
		case replay.Applied:
			_, err := f.Apply(n.Event)
			failed = errors.Join(failed, err)
		}
	})()
	for _, to := range []time.Duration{6005 * time.Second, 4000 * time.Second, 10 * time.Second, 7000 * time.Second, 5500 * time.Second, 0, 16 * time.Second, replay.End} {
		if err := p.Seek(t.Context(), to); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		straight := New(h, Options{})
		for _, ev := range events {
			if ev.At > to {
				break
			}
			if _, err := straight.Apply(ev); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(snapshot(t, straight), snapshot(t, f)); d != "" {
			t.Errorf("at %s (-straight +there and back):\n%s", to, d)
		}
	}
	if back < 1000 {
		t.Errorf("went back to event %d at the latest: no keyframe was tried", back)
	}
}

func snapshot(t *testing.T, o noderoll.Observer) noderoll.Snapshot {
	t.Helper()
	s, err := o.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRewindBeyondTheEnd(t *testing.T) {
	r := script(t, "0s ADDED nodes a ready\n0s SYNC nodes\n")
	ev, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	err = New(r.Header(), Options{}).Rewind(replay.Events(r.Header(), []timeline.Event{ev}), 2)
	if want := `tape "test" ends after 1 events: want at least the 2 that were played`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// However much is between a GAP and its SYNC, of each object one state is
// held, and a name that is used again is another node.
func TestBlockHoldsObjectsNotEvents(t *testing.T) {
	var b block
	put := func(typ timeline.Type, name, uid string) {
		b.put(timeline.Event{Type: typ, Name: name, UID: uid})
	}
	for range 100 {
		put(timeline.Modified, "a", "1")
	}
	for i := range 100 {
		put(timeline.Deleted, "b", fmt.Sprint(i))
		put(timeline.Added, "b", fmt.Sprint(i+1))
	}
	put(timeline.Added, "c", "1")
	put(timeline.Deleted, "c", "1")
	var got []string
	for ev := range b.events {
		got = append(got, fmt.Sprintf("%s %s %s", ev.Type, ev.Name, ev.UID))
	}
	if d := cmp.Diff([]string{"MODIFIED a 1", "DELETED b 99", "ADDED b 100", "DELETED c 1"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	wantFeed(t, feedOf(t, script(t, `
0s ADDED nodes a uid=1 ready
0s SYNC nodes
10s GAP nodes
11s DELETED nodes a uid=1
11s ADDED nodes a uid=2
12s SYNC nodes
`), verbose()), "T+10.000s gap - nodes 410 Expired\nT+12.000s terminated a\nT+12.000s joining a\n")
}
