package timeline

import (
	"bytes"
	"slices"
	"testing"
)

// A tape that another one continues ends in the state with which that begins, and what follows is patched from there.
func TestContinueHandsTheStateOver(t *testing.T) {
	events := sampleEvents(7, 600)
	whole := readAll(t, openBytes(t, tape(t, events)))
	var one, two bytes.Buffer
	w, err := NewWriter(&one, sampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, w, events[:300])
	next, err := NewWriter(&two, sampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Continue(next, Event{Type: Sync, Resource: "nodes", RV: "7000"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(events[300]); events[300].Type.Object() && err == nil {
		t.Error("the first tape still takes an object")
	}
	writeAll(t, next, events[300:])
	got := readAll(t, openBytes(t, two.Bytes()))
	i := slices.IndexFunc(got, func(ev Event) bool { return ev.RV == "7000" })
	if i < 1 {
		t.Fatalf("found the SYNC at %d, want it after a state", i)
	}
	wantSame(t, got[i+1:], whole[300:])
	alive := map[string]Event{}
	for _, ev := range whole[:300] {
		switch key := ev.Resource + "/" + ev.Name; {
		case ev.Type == Deleted:
			delete(alive, key)
		case ev.Type.Object():
			alive[key] = ev
		}
	}
	if len(alive) != i {
		t.Errorf("the state has %d objects, want %d", i, len(alive))
	}
	for _, ev := range got[:i] {
		want := alive[ev.Resource+"/"+ev.Name]
		if want.At, want.Type = 0, Added; !same(ev, want) {
			t.Errorf("state of %s: found %s, want %s", ev.Name, ev.Object, want.Object)
		}
	}
}
