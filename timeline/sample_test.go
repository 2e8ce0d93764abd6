package timeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func sampleHeader() Header {
	return Header{
		Metadata: Metadata{Name: "sample", Start: Time{time.Date(2026, 11, 20, 22, 21, 9, 113e6, time.UTC)}},
		Source:   Origin{Kind: SourceRecording, Server: "v1.36.3", Times: TimesObserved},
		Scope:    Scope{Provider: "eks", Nodegroup: "spot-burst"},
		Resources: []Resource{
			{Version: "v1", Kind: "Node", Resource: "nodes"},
			{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
			{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
		},
		Redaction: []string{"pods.spec.containers.env"},
	}
}

// sampleEvents makes n events of a few objects that come, change and go, with
// everything that patches find hard: nulls, removed members, arrays, strange
// strings, a new UID under an old name.
func sampleEvents(seed uint64, n int) []Event {
	r := rand.New(rand.NewPCG(seed, 1))
	var out []Event
	rv, at := 100, time.Duration(0)
	type obj struct {
		ev   Event
		body map[string]any
	}
	alive := map[string]*obj{}
	emit := func(t Type, o *obj) {
		rv++
		ev := o.ev
		ev.At, ev.Type, ev.RV = at, t, fmt.Sprint(rv)
		kind := map[string]string{"nodes": "Node", "pods": "Pod"}[ev.Resource]
		meta := map[string]any{"name": ev.Name, "uid": ev.UID, "resourceVersion": ev.RV}
		if ev.Namespace != "" {
			meta["namespace"] = ev.Namespace
		}
		for k, v := range o.body["metadata"].(map[string]any) {
			meta[k] = v
		}
		whole := map[string]any{"kind": kind, "apiVersion": "v1", "metadata": meta}
		for k, v := range o.body {
			if k != "metadata" {
				whole[k] = v
			}
		}
		ev.Object, _ = json.Marshal(whole)
		out = append(out, ev)
	}
	words := []string{"a", "Ready", "line\nbreak", "\u2028\U0001f600\x7f", "--- {", "", "\"quoted\"", "0755", "2026-11-20"}
	word := func() string { return words[r.IntN(len(words))] }
	change := func(o *obj) {
		status := map[string]any{"phase": word(), "conditions": []any{map[string]any{"type": word(), "lastHeartbeatTime": nil}}}
		for range r.IntN(3) {
			status[string(rune('a'+r.IntN(4)))] = []any{nil, 1, 2.5, true, word(), map[string]any{"x": nil, "y": r.IntN(3)}, map[string]any{}}[r.IntN(7)]
		}
		o.body["status"] = status
		if r.IntN(4) == 0 {
			o.body["metadata"] = map[string]any{"labels": map[string]any{word(): word()}}
		}
	}
	for len(out) < n {
		at += time.Duration(r.IntN(3)) * time.Duration(r.IntN(1e9))
		name := fmt.Sprintf("ip-10-0-1-%d", r.IntN(5))
		res, ns := "nodes", ""
		if r.IntN(2) == 0 {
			res, ns = "pods", "default"
		}
		key := res + name
		o := alive[key]
		switch {
		case o == nil:
			o = &obj{ev: Event{Resource: res, Namespace: ns, Name: name, UID: fmt.Sprintf("uid-%d", rv)}, body: map[string]any{"metadata": map[string]any{}}}
			change(o)
			alive[key] = o
			emit(Added, o)
		case r.IntN(40) == 0:
			delete(alive, key)
			if r.IntN(2) == 0 {
				change(o)
			}
			emit(Deleted, o)
		case r.IntN(60) == 0:
			emit(Deleted, o)
			o.ev.UID = fmt.Sprintf("uid-%d", rv)
			change(o)
			emit(Added, o)
		case r.IntN(30) == 0:
			rv++
			out = append(out, Event{At: at, Type: Sync, Resource: res, RV: fmt.Sprint(rv)})
		case r.IntN(80) == 0:
			out = append(out, Event{At: at, Type: Mark, Name: word() + "m", Reason: word()},
				Event{At: at, Type: Gap, Resource: res, RV: fmt.Sprint(rv), Reason: "410 Expired: " + word()})
		default:
			change(o)
			emit(Modified, o)
		}
	}
	return out
}

func writeAll(t testing.TB, w *Writer, events []Event) {
	t.Helper()
	for _, ev := range events {
		if err := w.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
}

func tape(t testing.TB, events []Event) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, sampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, w, events)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readAll(t testing.TB, r *Reader) []Event {
	t.Helper()
	var out []Event
	for ev, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ev)
	}
	return out
}

// same compares events by what they mean: objects as JSON values.
func same(a, b Event) bool {
	var x, y any
	if (len(a.Object) > 0) != (len(b.Object) > 0) {
		return false
	}
	if len(a.Object) > 0 {
		if json.Unmarshal(a.Object, &x) != nil || json.Unmarshal(b.Object, &y) != nil {
			return false
		}
		ja, _ := json.Marshal(x)
		jb, _ := json.Marshal(y)
		if !bytes.Equal(ja, jb) {
			return false
		}
	}
	return a.At == b.At && a.Type == b.Type && a.Resource == b.Resource && a.Namespace == b.Namespace &&
		a.Name == b.Name && a.UID == b.UID && a.RV == b.RV && a.Reason == b.Reason && slices.EqualFunc(a.Extra, b.Extra, func(m, n Member) bool {
		return m.Name == n.Name && bytes.Equal(m.Value, n.Value)
	})
}

func wantSame(t testing.TB, got, want []Event) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range got {
		if !same(got[i], want[i]) {
			g, w := got[i], want[i]
			g.Object, w.Object, g.Patch = nil, nil, nil
			t.Fatalf("event %d is\n%+v\n%s\nwant\n%+v\n%s", i, g, got[i].Object, w, want[i].Object)
		}
	}
}

func openBytes(t testing.TB, b []byte, opts ...ReadOption) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(b), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// drain reads a tape to its end or its error.
func drain(b []byte, opts ...ReadOption) (events []Event, r *Reader, err error) {
	r, err = NewReader(bytes.NewReader(b), opts...)
	if err != nil {
		return nil, nil, err
	}
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, r, nil
		}
		if err != nil {
			return events, r, err
		}
		events = append(events, ev)
	}
}

func tempFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
