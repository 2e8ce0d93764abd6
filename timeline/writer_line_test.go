package timeline_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

func lineWriter(t testing.TB, buf *bytes.Buffer) *timeline.Writer {
	t.Helper()
	w, err := timeline.NewWriter(buf, timeline.Header{
		APIVersion: timeline.APIVersion, Kind: timeline.Kind, Metadata: timeline.Metadata{Name: "lines"},
		Resources: []timeline.Resource{{Version: "v1", Kind: "Node", Resource: "nodes"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestLinesAreWrittenAsTheyAreRead: what a Reader with Lines hands out makes the
// same tape again, byte by byte.
func TestLinesAreWrittenAsTheyAreRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var tape bytes.Buffer
	w := lineWriter(t, &tape)
	alive := map[int]int{}
	for i := range 2000 {
		n := rng.IntN(12)
		ev := timeline.Event{At: time.Duration(i) * time.Millisecond, Type: timeline.Modified, Resource: "nodes", Name: fmt.Sprint("n", n), RV: fmt.Sprint(i + 1)}
		switch generation, ok := alive[n]; {
		case !ok:
			ev.Type, ev.UID, alive[n] = timeline.Added, fmt.Sprint("uid-", i), 1
			ev.Object = []byte(`{"metadata":{"generation":1},"spec":{"unschedulable":true}}`)
		case rng.IntN(10) == 0:
			ev.Type = timeline.Deleted
			delete(alive, n)
		default:
			alive[n]++
			ev.Object = fmt.Appendf(nil, `{"metadata":{"generation":%d},"spec":{"unschedulable":true}}`, generation+1)
		}
		if err := w.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write(timeline.Event{At: time.Minute, Type: timeline.End}); err != nil {
		t.Fatal(err)
	}
	r, err := timeline.NewReader(bytes.NewReader(tape.Bytes()), timeline.Lines())
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	w = lineWriter(t, &again)
	patches := 0
	for ev, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Patch != nil {
			patches++
		}
		if err := w.WriteLine(ev); err != nil {
			t.Fatal(err)
		}
	}
	if patches == 0 || !bytes.Equal(tape.Bytes(), again.Bytes()) {
		t.Errorf("%d patches, %d and %d bytes: want the same tape", patches, tape.Len(), again.Len())
	}
	if w.Events() != 2001 {
		t.Errorf("%d events: want 2001", w.Events())
	}
}

// TestWriteLineRefuses what no Reader could make anything of; the tape is then
// as it was, and the Writer usable.
func TestWriteLineRefuses(t *testing.T) {
	object, patch := []byte(`{}`), []byte(`{"spec":{}}`)
	good := timeline.Event{At: time.Second, Type: timeline.Added, Resource: "nodes", Name: "a", UID: "1", RV: "1", Object: object}
	for want, change := range map[string]func(*timeline.Event){
		"want at least 1s":             func(ev *timeline.Event) { ev.At = 0 },
		"no name":                      func(ev *timeline.Event) { ev.Name = "" },
		"an object and a patch":        func(ev *timeline.Event) { ev.Patch = patch },
		"ADDED of nodes b without":     func(ev *timeline.Event) { ev.Object, ev.Patch = nil, patch },
		"MODIFIED of nodes b without":  func(ev *timeline.Event) { ev.Type, ev.Object = timeline.Modified, nil },
		"the header doesn't list this": func(ev *timeline.Event) { ev.Resource = "pods" },
		"MiB":                          func(ev *timeline.Event) { ev.Object = bytes.Repeat([]byte(" "), 5<<20) },
	} {
		var tape bytes.Buffer
		w := lineWriter(t, &tape)
		if err := w.WriteLine(good); err != nil {
			t.Fatal(err)
		}
		was := tape.String()
		bad := good
		bad.Name = "b"
		change(&bad)
		if err := w.WriteLine(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
		if tape.String() != was {
			t.Errorf("%q: the tape has changed", want)
		}
		if err := w.WriteLine(timeline.Event{At: 2 * time.Second, Type: timeline.End}); err != nil {
			t.Errorf("%q: %v: want the Writer usable", want, err)
		}
		if err := w.WriteLine(good); err == nil || !strings.Contains(err.Error(), "after END") {
			t.Errorf("%v: want an error after END", err)
		}
	}
}

// TestAReaderRefusesWhatWriteLineDoesNot: the writer of lines answers for them.
func TestAReaderRefusesWhatWriteLineDoesNot(t *testing.T) {
	var tape bytes.Buffer
	w := lineWriter(t, &tape)
	for _, ev := range []timeline.Event{
		{Type: timeline.Modified, Resource: "nodes", Name: "nobody", RV: "1", Patch: []byte(`{"spec":{}}`)},
		{Type: timeline.End},
	} {
		if err := w.WriteLine(ev); err != nil {
			t.Fatal(err)
		}
	}
	r, err := timeline.NewReader(&tape)
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	for _, err := range r.All() {
		failed = err
		if err != nil {
			break
		}
	}
	if failed == nil || !strings.Contains(failed.Error(), "nobody") {
		t.Errorf("%v: want a change of what was never there refused", failed)
	}
}

func BenchmarkWriteLine(b *testing.B) {
	var tape bytes.Buffer
	w := lineWriter(b, &tape)
	ev := timeline.Event{Type: timeline.Added, Resource: "nodes", Name: "a", UID: "1", RV: "1", Object: []byte(`{"metadata":{"generation":1}}`)}
	if err := w.WriteLine(ev); err != nil {
		b.Fatal(err)
	}
	ev.Type, ev.Object, ev.Patch = timeline.Modified, nil, []byte(`{"metadata":{"generation":2}}`)
	for b.Loop() {
		tape.Reset()
		if err := w.WriteLine(ev); err != nil {
			b.Fatal(err)
		}
	}
}
