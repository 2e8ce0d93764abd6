package tapediff_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/timeline"
)

// examples are recordings of a real control plane.
var examples = []string{"surge", "spot-vanish", "stuck-drain", "stuck-drain-force"}

func tape(t testing.TB, name string) *timeline.Reader {
	t.Helper()
	r, err := timeline.Open(filepath.Join("..", "..", "..", "examples", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() }) // it was only read
	return r
}

// edited is an example with other events: what edit returns represents each of them.
func edited(t testing.TB, name string, edit func(timeline.Event) []timeline.Event) *timeline.Reader {
	t.Helper()
	from := tape(t, name)
	var text bytes.Buffer
	w, err := timeline.NewWriter(&text, *from.Header())
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range from.All() {
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range edit(ev) {
			if err := w.Write(ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return read(t, text.Bytes())
}

func read(t testing.TB, text []byte) *timeline.Reader {
	t.Helper()
	r, err := timeline.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// object is the decoded object of an event, to be changed.
type object map[string]any

func (o object) at(path ...string) object {
	for _, name := range path {
		next, _ := o[name].(map[string]any)
		if next == nil {
			next = map[string]any{}
			o[name] = next
		}
		o = next
	}
	return o
}

// each calls f with every member of a list of objects.
func (o object) each(list string, f func(object)) {
	items, _ := o[list].([]any)
	for _, item := range items {
		f(item.(map[string]any))
	}
}

// changed changes the objects of one resource.
func changed(t testing.TB, resource string, f func(ev timeline.Event, o object)) func(timeline.Event) []timeline.Event {
	t.Helper()
	return func(ev timeline.Event) []timeline.Event {
		if ev.Resource != resource || !ev.Type.Object() {
			return []timeline.Event{ev}
		}
		var o object
		if err := json.Unmarshal(ev.Object, &o); err != nil {
			t.Fatal(err)
		}
		f(ev, o)
		b, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		ev.Object, ev.Patch = b, nil
		return []timeline.Event{ev}
	}
}

func compare(t testing.TB, a, b *timeline.Reader, o tapediff.Options) tapediff.Report {
	t.Helper()
	report, err := tapediff.Compare(a, b, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
