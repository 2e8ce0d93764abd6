package timeline

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

// In a large cluster the Writer keeps bodies packed. The tape is the same to
// the byte as by a Writer that doesn't.
func TestPackedStatesSayTheSame(t *testing.T) {
	pod := func(i, rv int, phase string) Event {
		ev := Event{Type: Modified, Resource: "pods", Namespace: "default", Name: fmt.Sprintf("web-%d", i), UID: fmt.Sprintf("uid-%d", i), RV: fmt.Sprint(rv)}
		ev.Object = fmt.Appendf(nil, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"default","uid":%q,"resourceVersion":%q,"labels":{"app":"web"}},"spec":{"nodeName":"ip-10-0-1-%d","schedulerName":"default-scheduler"},"status":{"phase":%q,"podIP":"10.1.%d.%d"}}`,
			ev.Name, ev.UID, ev.RV, i%100, phase, i/250, i%250)
		return ev
	}
	var events []Event
	const n = packFrom + 500
	for i := range n {
		ev := pod(i, i, "Pending")
		ev.Type = Added
		events = append(events, ev)
	}
	for i := packFrom - 200; i < n; i++ {
		events = append(events, pod(i, n+i, "Running"))
		if i%3 == 0 {
			ev := pod(i, 2*n+i, "Running")
			ev.Type, ev.Object = Deleted, nil
			events = append(events, ev)
		}
	}
	var packed, plain bytes.Buffer
	w, err := NewWriter(&packed, sampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, w, events)
	kept := 0
	for _, o := range w.alive.m {
		if o.packed != nil {
			kept++
		}
	}
	if kept < 300 {
		t.Errorf("only %d objects are packed", kept)
	}
	p, err := NewWriter(&plain, sampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		writeAll(t, p, []Event{ev})
		for _, o := range []*living{p.alive.get(ev.Resource, ev.Namespace, ev.Name)} {
			if o != nil && o.packed != nil { // unpack at once
				o.body, o.packed = bytes.Clone(p.alive.state(o)), nil
			}
		}
	}
	if !bytes.Equal(packed.Bytes(), plain.Bytes()) {
		t.Error("packed states make another tape")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, openBytes(t, packed.Bytes())); len(got) != len(events) {
		t.Errorf("%d events read, want %d", len(got), len(events))
	}
}

// Append changes nothing before it writes.
func TestAppendThatWritesNothing(t *testing.T) {
	want := sampleEvents(8, 30)
	for _, events := range [][]Event{append(want, Event{At: want[len(want)-1].At, Type: End}), {{Type: End}}, nil} {
		b := tape(t, events)
		for _, torn := range []string{"", "--- {\"at\":"} {
			name := tempFile(t, "t.yaml", append(bytes.Clone(b), torn...))
			before, _ := os.ReadFile(name)
			w, _, err := Append(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if after, err := os.ReadFile(name); err != nil || !bytes.Equal(before, after) {
				t.Errorf("%d events, tail %q: the tape has changed (%v)", len(events), torn, err)
			}
		}
	}
}
