package timeline_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// A Writer of no tape takes what one of a tape does, and leaves nothing.
func TestBlankWriter(t *testing.T) {
	w, err := timeline.NewBlankWriter(timeline.Header{
		APIVersion: timeline.APIVersion, Kind: timeline.Kind, Metadata: timeline.Metadata{Name: "seen", Start: timeline.Time{Time: time.Unix(0, 0)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Duration{0, time.Second} {
		ev := timeline.Event{At: at, Type: timeline.Added, Resource: "nodes", Name: "n", Object: []byte("{}")}
		if err := w.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write(timeline.Event{Type: timeline.Mark, Name: "back"}); err == nil {
		t.Error("it takes an event of a time before the last one's: want it refused")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Events() != 2 || w.Bytes() != 0 {
		t.Errorf("%d events in %d bytes: want 2 in 0", w.Events(), w.Bytes())
	}
}
