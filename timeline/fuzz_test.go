package timeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// Whatever a Reader is given, it ends with io.EOF or an *Error of one line,
// and what it has returned until then can be written and reads the same, and can be transformed.
func FuzzReader(f *testing.F) {
	f.Add(tape(f, complete(sampleEvents(1, 8))))
	f.Add(formatted(f, tape(f, complete(sampleEvents(2, 4))), StyleBlock))
	f.Add(formatted(f, tape(f, complete(sampleEvents(3, 4))), StyleJSON))
	for _, c := range badTapes {
		if len(c.tape) < 4<<10 {
			f.Add([]byte(c.tape))
		}
	}
	for _, c := range []codec{gzipped, zstandard} {
		packed := &framed{}
		if err := packed.use(c); err != nil {
			f.Fatal(err)
		}
		b, err := packed.encode(nil, []byte(head+added))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	blue := selector(f, "pool=blue")
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			return
		}
		read := func(b []byte) (*Reader, []Event) {
			r, err := NewReader(bytes.NewReader(b))
			if err != nil {
				wantOneLine(t, err)
				return nil, nil
			}
			var events []Event
			for {
				ev, err := r.Next()
				if errors.Is(err, io.EOF) {
					return r, events
				}
				if err != nil {
					wantOneLine(t, err)
					return r, events
				}
				events = append(events, ev)
			}
		}
		r, events := read(b)
		if r == nil {
			return
		}
		write := func(events []Event, through ...Transform) []byte {
			var out bytes.Buffer
			h, changed := Chain(through...)(r.Header(), sequence(events))
			w, err := NewWriter(&out, *h)
			if err != nil {
				t.Fatalf("a header that was read can't be written: %v", err)
			}
			if err := errors.Join(w.WriteAll(changed), w.Close()); err != nil {
				t.Fatalf("events that were read can't be written: %v", err)
			}
			return out.Bytes()
		}
		once := write(events)
		again, back := read(once)
		if again == nil {
			t.Fatalf("unreadable:\n%s", once)
		}
		wantSame(t, back, events)
		if twice := write(back); !bytes.Equal(twice, once) {
			t.Fatalf("written again it is\n%s\nand was\n%s", twice, once)
		}
		for _, tr := range []Transform{
			Window(time.Second, 3*time.Second), Speed(3), IdleLimit(time.Second), Filter(Selection{Labels: blue}, Selection{Names: []string{"n"}}),
			Chain(Rebase(time.Unix(0, 0)), RebaseObjects(time.Unix(1<<33, 0))),
		} {
			if whole, _ := read(write(events, tr)); whole == nil {
				t.Fatal("a transform makes what is no tape")
			}
		}
		for _, style := range []Style{StyleBlock, StyleJSON} {
			_, back := read(formatted(t, once, style))
			wantSame(t, back, events)
		}
	})
}

func wantOneLine(t *testing.T, err error) {
	t.Helper()
	var fail *Error
	if !errors.As(err, &fail) || strings.ContainsAny(err.Error(), "\n\x00\x1b") || len(err.Error()) > 3000 {
		t.Fatalf("%T %q: want an *Error of one line", err, err)
	}
}

// Any states of an object, one per line of the input, come back as they were.
func FuzzRoundTrip(f *testing.F) {
	f.Add(`{"a":1}` + "\n" + `{"a":null}` + "\n" + `{"a":{"b":null}}` + "\n" + `{}`)
	f.Add(`{"a":[null,{"b":null}]}` + "\n" + `{"a":[]}` + "\n" + `{"kind":"Pod","a":"\u2028\ud83d\ude00"}`)
	f.Add(`{"metadata":{"labels":{"a":"b"}}}` + "\n" + `{"metadata":{}}` + "\n" + `{"metadata":null}`)
	f.Add(`{"a":1,"a":0}` + "\n" + `{"a":1}` + "\n" + `{"a":1}`) // refused: no patch can tell such members apart
	f.Fuzz(func(t *testing.T, text string) {
		var events []Event
		var out bytes.Buffer
		w, err := NewWriter(&out, sampleHeader())
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(text, "\n") {
			if !json.Valid([]byte(line)) {
				continue
			}
			ev := Event{Type: Modified, Resource: "nodes", Name: "n", UID: "u", RV: fmt.Sprint(i + 1), Object: []byte(line)}
			if len(events) == 0 {
				ev.Type = Added
			}
			if w.Write(ev) == nil {
				events = append(events, ev)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got := readAll(t, openBytes(t, out.Bytes()))
		if len(got) != len(events) {
			t.Fatalf("%d events of %d", len(got), len(events))
		}
		for i := range got {
			if a, b := bare(got[i].Object), bare(events[i].Object); a != b {
				t.Fatalf("state %d is %s\nwant %s\n%s", i, a, b, out.String())
			}
		}
	})
}

// bare is an object without what the tape adds to it or has beside it.
func bare(object []byte) string {
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err.Error()
	}
	if v["kind"] == "Node" {
		delete(v, "kind")
	}
	if v["apiVersion"] == "v1" {
		delete(v, "apiVersion")
	}
	meta, _ := v["metadata"].(map[string]any)
	for _, k := range []string{"name", "namespace", "uid", "resourceVersion"} {
		delete(meta, k)
	}
	if len(meta) == 0 {
		delete(v, "metadata")
	}
	b, err := json.Marshal(v)
	return fmt.Sprint(string(b), err)
}
