package examples_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/timeline"
)

// A client that records a replay over HTTP gets the tape: per resource the same types,
// versions and objects, in the same order, and the same feed but for its times.
func TestRecordingAReplayGivesTheTape(t *testing.T) {
	for _, name := range tapes(t) {
		t.Run(name, func(t *testing.T) {
			again := filepath.Join(t.TempDir(), "again.yaml")
			recordReplay(t, name, again)
			if d := cmp.Diff(contents(t, name), contents(t, again)); d != "" {
				t.Errorf("(-tape +recorded):\n%s", d)
			}
		})
	}
}

// recordReplay plays a tape as fast as it goes, and records it.
func recordReplay(t *testing.T, name, file string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	p, err := replay.NewPlayer(replay.File(name), replay.WithSpeed(replay.Max), replay.KeepPace(64))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }() // it was only read
	s, err := apiserver.New(p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	watched := &counter{want: len(p.Cluster().Resources()), listed: make(chan struct{}), changed: make(chan struct{}, 1)}
	r, err := recorder.New(recorder.Config{
		REST: s.RESTConfig(), Name: "again", Full: true, Stop: watched.take,
		Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create(file, h) },
	})
	if err != nil {
		t.Fatal(err)
	}
	recording, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		_, err := r.Run(recording)
		ended <- err
	}()
	select {
	case <-watched.listed:
	case err := <-ended:
		t.Fatalf("the recording ended before the replay began: %v", err)
	}
	if err := p.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.Cluster().WaitDelivered(ctx); err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, lines := range contents(t, name) {
		want += len(lines)
	}
	if err := watched.until(ctx, want); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// counter counts what a recorder writes.
type counter struct {
	mu      sync.Mutex
	want    int // lists
	listed  chan struct{}
	objects int
	changed chan struct{}
}

func (c *counter) take(ev timeline.Event) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case ev.Type.Object():
		c.objects++
	case ev.Type == timeline.Sync:
		if c.want--; c.want == 0 {
			close(c.listed)
		}
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
	return false
}

// until waits for so many lines.
func (c *counter) until(ctx context.Context, objects int) error {
	for {
		c.mu.Lock()
		n := c.objects
		c.mu.Unlock()
		if n >= objects {
			return nil
		}
		select {
		case <-c.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// contents returns what a tape says of objects, by resource.
func contents(t *testing.T, name string) map[string][]string {
	t.Helper()
	r := open(t, name)
	all, lists := map[string][]string{}, map[string]map[string]string{}
	for _, resource := range r.Header().Resources {
		lists[r.Header().Key(resource)] = map[string]string{}
	}
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		line := string(bytes.Join([][]byte{[]byte(ev.Type), []byte(ev.RV), ev.Object}, []byte(" ")))
		list, listing := lists[ev.Resource]
		switch {
		case ev.Type == timeline.Sync && listing: // a list is in the order of its reader
			for _, key := range slices.Sorted(maps.Keys(list)) {
				all[ev.Resource] = append(all[ev.Resource], list[key])
			}
			delete(lists, ev.Resource)
		case ev.Type.Object() && listing:
			list[ev.Namespace+"/"+ev.Name] = line
		case ev.Type.Object():
			all[ev.Resource] = append(all[ev.Resource], line)
		}
	}
}
