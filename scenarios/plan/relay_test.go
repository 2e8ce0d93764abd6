package plan

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nodesim/nodesim/timeline"
)

// A relay gives on each event once, in order and as it was, though its bytes are written over, and its batches used again.
func TestRelayKeepsOrderAndBytes(t *testing.T) {
	const events = 100_000
	read, bytes := 0, 0
	r := newRelay(func(ev timeline.Event) error {
		want := fmt.Sprintf("%d", read)
		if string(ev.Object) != want || ev.Patch != nil || ev.Name != want || len(ev.Extra) != 1 || string(ev.Extra[0].Value) != "<"+want+">" {
			return fmt.Errorf("event %d: got %s, %s, %s and %v", read, ev.Name, ev.Object, ev.Patch, ev.Extra)
		}
		read, bytes = read+1, bytes+len(ev.Object)+len(ev.Extra[0].Value)
		return nil
	})
	object, extra := make([]byte, 0, 16), make([]byte, 0, 16)
	for i := range events {
		object, extra = fmt.Appendf(object[:0], "%d", i), fmt.Appendf(extra[:0], "<%d>", i)
		if err := r.add(timeline.Event{Name: string(object), Object: object, Extra: []timeline.Member{{Name: "x", Value: extra}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.close(), r.close()); err != nil || read != events || bytes <= 8*batchBytes {
		t.Errorf("read %d events of %d bytes, %v: want %d, of more than eight batches", read, bytes, err, events)
	}
}

// What reading fails with comes when it is closed, and nothing waits for ever before.
func TestRelayFails(t *testing.T) {
	broken, read := errors.New("broken"), 0
	r := newRelay(func(timeline.Event) error { read++; return broken })
	object := make([]byte, batchBytes)
	for range 20 {
		if err := r.add(timeline.Event{Object: object}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.close(); !errors.Is(err, broken) || read != 1 {
		t.Errorf("got %v after %d events, want %v after one", err, read, broken)
	}
}
